#!/bin/sh
# SPDX-License-Identifier: MIT
# remote.sh - clients of other machines: who may connect to `lazaret serve --listen tls://...`, what one of
# them may set and use, what hostile ones achieve. tests/session/remote.py has the parts.
. "${srcdir:-.}/tests/session/lib.sh"

top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/remote-lazaret.XXXXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
stage_open "$PWD/staged"
HOME=$work
PYTHONDONTWRITEBYTECODE=1
export HOME PYTHONDONTWRITEBYTECODE
certificates=$work
cd "$work" || exit 1
be_patient
: >out
: >err

# authority NAME, certificate NAME AUTHORITY EXTENSIONS - makes NAME.pem and NAME.key.
authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=$1" \
        -keyout "$1.key" -out "$1.pem" -addext keyUsage=critical,keyCertSign,cRLSign 2>>err
}
certificate() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" \
        -out "$1.csr" 2>>err &&
        printf '%s\n' "$3" >"$1.ext" &&
        openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -days 20 -extfile "$1.ext" \
            -out "$1.pem" 2>>err
}

# costly NAME - a certificate that nobody has signed, with a key whose signatures take long to check:
# the public exponent is large.
costly() {
    openssl req -x509 -newkey rsa:2048 -pkeyopt rsa_keygen_pubexp:1208925819614629174706189 -nodes -days 30 \
        -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" 2>>err
}

# part NAME - one of the parts of remote.py, in a directory of its own.
part() {
    cases=$((cases + 1)) status=0
    cp "$certificates"/*.pem "$certificates"/*.key "$certificates"/operator* "$work"
    sed "s|@|$work|g" "$certificates/server.toml" >"$work/server.toml"
    timeout 1100 python3 "$top/tests/session/remote.py" "$1" "$lazaret" "$work" >out 2>err || status=$?
    [ "$status" -eq 0 ] || wrong "$1" "status $status"
    tail -n 1 out
}

look_for python
is_installed python || exit $((failures ? 1 : 77))
if "$lazaret" token new-key operator 2>&1 | grep -q 'built without tokens'; then
    may_be_missing tls "this build has no TLS"
    exit $((failures ? 1 : 77))
fi
authority ca
authority other
certificate server ca "$(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth')"
certificate bob ca extendedKeyUsage=clientAuth
certificate carol ca extendedKeyUsage=clientAuth
certificate mallory other extendedKeyUsage=clientAuth
costly dave
: >index.txt
printf '[ca]\ndefault_ca = ca\n[ca]\ndatabase = index.txt\ndefault_md = sha256\ndefault_crl_days = 20\n' >ca.cnf
openssl ca -config ca.cnf -revoke carol.pem -keyfile ca.key -cert ca.pem 2>>err &&
    openssl ca -config ca.cnf -gencrl -keyfile ca.key -cert ca.pem -out revoked.pem 2>>err
chmod 600 ./*.key
cat >server.toml <<END
session.start_timeout = 600
session.timeout = 600
session.deadline = 1200
[serve]
certificate = "@/server.pem"
key = "@/server.key"
clients = "@/ca.pem"
revoked = "@/revoked.pem"
token_keys = "@/operator.pub"
[[tools]]
provider = "command"
[[tools.tool]]
name = "danger"
description = "of the server"
command = ["/bin/echo", '"did it"']
[[tools.tool]]
name = "guarded"
description = "of the server"
command = ["/bin/echo", '"did it"']
[[approve]]
tool = "guarded"
END
if ! [ -s revoked.pem ]; then
    wrong setup "certificates cannot be made"
    exit 1
fi
: >err
# Several parts wait for a time that is over, or for files to be looked at.
who() { part who; }
expiry() { part expiry; }
chain() { part chain; }
renew() { part renew; }
lost() { part lost; }
widen() { part widen; }
credentials() { part credentials; }
approvals() { part approvals; }
limits() { part limits; }
hostile() { part hostile; }
idle() { part idle; }
bridge() { part bridge; }
mistakes() { part wrong; }
tokens() { part tokens; }
side_by_side who expiry chain renew lost widen approvals limits
side_by_side hostile idle bridge mistakes tokens credentials
slow() { part slow; }
flood() { part flood; }
burst() {
    part burst
    grep '^burst' out
}
if [ -n "${LAZARET_TEST_FULL-}" ]; then
    for name in slow flood burst; do
        side_by_side $name
    done
fi
finish
