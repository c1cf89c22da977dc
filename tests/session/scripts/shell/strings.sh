# SPDX-License-Identifier: MIT
path=/usr/local/lib/libx.so.1.2 name='Some Name'
echo "${path##*/} ${path%/*} ${path%%.*} ${path/lib/LIB} ${path//l/L} ${#path}"
echo "${name,,} ${name^^} ${name:5:3} ${name: -4} ${unset-default} ${unset:+never}${name@Q}"
printf '%5.2f|%-6s|%06d|%x|%b\n' 3.14159 ab 42 255 'tab\there'
[[ $name =~ ^([A-Z])[a-z]+\ (.*)$ ]] && echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"
echo $((16#ff + 2 ** 10)) $((x = 5, x++ + ++x)) {a..e}{1,2}
echo $'quoted\ttab \u00e4' "$(echo "nested $(echo deeper)")" `echo old`
case $name in [a-z]*) echo lower ;; S*) echo upper ;;& *) echo "and more" ;; esac
while getopts ab:c option -a -b value -x 2>/dev/null; do echo "$option ${OPTARG-}"; done
list=a:b:c; IFS=:; set -- $list; echo $#; printf %s "$*" | tr -c '\n' x | wc -l
