# SPDX-License-Identifier: MIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_DATE='2024-01-31 12:00:00 +0000' GIT_COMMITTER_DATE='2024-01-31 12:00:00 +0000'
git init -q -b main project && cd project || exit
git config user.name someone && git config user.email someone@example.org
echo one >file && git add file && git commit -q -m first && echo two >>file
git diff --stat && git commit -qam second && git log --format='%h %s'
git checkout -qb topic HEAD~1 && git show main:file && cd .. && git clone -q project copy && ls copy
rm -rf project copy
