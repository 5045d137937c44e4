#!/bin/sh
# Fails, and says so, when a price is wrong.
cd "$(dirname "$0")" || exit 2
. ./lib/price.sh

wrong=0
expect() {
	got=$(price "$1" "$2")
	[ "$got" = "$3" ] && return
	echo "FAIL: $1 tickets of $2 should cost $3, not $got"
	wrong=1
}

expect 3 25 75
expect 10 5 45
expect 20 5 90
[ "$wrong" = 0 ] && echo "all prices are right"
exit "$wrong"
