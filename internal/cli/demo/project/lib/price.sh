# price COUNT UNIT says what COUNT tickets of UNIT cost together.
price() {
	count=$1 unit=$2
	free=$((count / 10))
	echo $(((count + free) * unit))
}
