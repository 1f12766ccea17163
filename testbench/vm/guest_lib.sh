# What a script run in a guest may use. Sourced by the agent before each.
#   GUEST      this guest's letter; /share is the folder all guests and the host see
#   barrier X [SECONDS]   waits until every guest got there

barrier()
{
	local limit=$(($(date +%s) + ${2:-120})) g
	: >"/share/sync/$1.$GUEST"
	for g in $(cat /share/guests); do
		until [ -e "/share/sync/$1.$g" ]; do
			[ "$(date +%s)" -lt $limit ] || { echo "barrier $1: no guest $g" >&2; return 1; }
			sleep 0.2
		done
	done
}
