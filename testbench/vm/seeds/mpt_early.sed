# drivers/infiniband/hw/mlx4/mr.c mtt_not_present objects
# a region is the device's before its translations are written
# SPDX-License-Identifier: Apache-2.0
/^struct ib_mr \*mlx4_ib_reg_user_mr/,/^}/ {
	s/err = mlx4_ib_umem_write_mtt(dev, &mr->mmr.mtt, mr->umem);/err = LATER;/
	s/err = mlx4_mr_enable(dev->dev, &mr->mmr);/err = mlx4_ib_umem_write_mtt(dev, \&mr->mmr.mtt, mr->umem);/
	s/err = LATER;/err = mlx4_mr_enable(dev->dev, \&mr->mmr);/
}
