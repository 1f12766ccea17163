# drivers/net/ethernet/mellanox/mlx4/reset.c config_not_restored objects
# behind a reset the command register of configuration space is not written back
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_reset/,/^}/ s/if (pci_write_config_dword(dev->persist->pdev, PCI_COMMAND,/if (pci_write_config_dword(dev->persist->pdev, 0,/
