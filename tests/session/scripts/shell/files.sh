# SPDX-License-Identifier: MIT
mkdir -p tree/{a,b}/c && echo one >tree/a/one.txt && echo 'two words' >tree/b/c/'with space.txt'
find tree -type f -print0 | sort -z | xargs -0 -n1 wc -w
sed 's/one/1/' tree/a/one.txt | tee tree/out >>tree/b/log
cat >table.csv <<END
name,amount
$(printf 'ann,%d\nbob,%d\n' 3 4)
END
awk -F, 'NR > 1 { sum += $2 } END { print "sum", sum }' table.csv
exec 5<table.csv
read -r header <&5 && echo "$header" && read -r -u 5 first && echo "$first"
exec 5<&-
diff <(sort table.csv) <(sort -r table.csv) | grep -c '^[<>]'
tar czf tree.tgz tree && tar tzf tree.tgz | sort && rm tree.tgz
test -x "$0" -o -r "$0" && echo readable
shopt -s globstar nullglob && echo tree/**/*.txt none*
