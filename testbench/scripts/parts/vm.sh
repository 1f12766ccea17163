# SPDX-License-Identifier: Apache-2.0
# The Linux driver in virtual machines. Sourced by run_tests.sh, last, because it needs the processors for itself.

# vm_results: each check counts as a test; if the script ended early that is a failure
vm_results()
{
	local status name result detail
	testbench/vm/short.sh >"$logs/vm.log" 2>&1
	status=$?
	if [ $status -eq 77 ]; then
		echo "skip  vm: $(sed -n 's/^skip: //p' "$logs/vm.log" | tail -n 1)"
		return
	fi
	while IFS=, read -r name result detail; do
		cp "$O/vm-test/logs/$name.log" "$logs/vm.$name.log" || continue
		case $result in
		pass) good "vm.$name" ;;
		fail) bad "vm.$name"; status=0 ;;
		*) echo "skip  vm.$name: $detail" ;;
		esac
	done < <(tail -n +2 "$O/vm-test/results.csv" 2>/dev/null)
	[ $status -eq 0 ] || bad vm
}
case $O in
build) vm_results ;;
*) echo "skip  vm: only with the ordinary build" ;;
esac
