;;; SPDX-License-Identifier: MIT
;;; language.scm - tests of the model itself, with small profiles.
;;;
;;; ("TITLE" "PROFILE" ((NAME . VALUE) ...) ("PART OF A COMPLAINT" ...) (VERDICT OPERATION KEY VALUE
;;; ...) ...) There are as many complaints as parts, and each contains its part. A question is asked
;;; in both readings of which rule decides, unless it begins with one of them: by-order, by-name.
;;; "older: ..." is for a system without file-test-existence.

(("the last rule that fits decides"
  "(version 1) (deny default) (allow file-read* (subpath \"/a\")) (deny file-read-data (literal \"/a/b\"))
   (allow file-read-data (subpath \"/a/b/c\"))"
  () ()
  (allow file-read-data path "/a/x")
  (deny file-read-data path "/a/b")
  (allow file-read-metadata path "/a/b")
  (allow file-read-data path "/a/b/c/d")
  (deny file-read-data path "/b"))

 ("another order is another meaning"
  "(version 1) (deny default) (deny file-read-data (literal \"/a/b\")) (allow file-read* (subpath \"/a\"))"
  () ()
  (by-order allow file-read-data path "/a/b")
  (by-name deny file-read-data path "/a/b")
  (allow file-read-metadata path "/a/b"))

 ("a name outranks a star, a filter a rule for everything"
  "(version 1) (deny default) (deny file-write-data (subpath \"/a/b\")) (allow file-write* (subpath \"/a\"))
   (deny file-write-data) (allow file-read* (subpath \"/a\")) (deny file-read-data)"
  () ()
  (by-order deny file-write-data path "/a/b/c")
  (by-name deny file-write-data path "/a/b/c")
  (by-order deny file-write-data path "/a/c")
  (by-name allow file-write-data path "/a/c")
  (by-name allow file-read-data path "/a/c")
  (by-order deny file-read-data path "/a/c"))

 ("of two names the last decides, and of two stars"
  "(version 1) (deny default) (allow file-read-data (subpath \"/a\")) (deny file-read-data (literal \"/a/b\"))
   (allow file-write* (subpath \"/a\")) (deny file-write* (literal \"/a/b\"))"
  () ()
  (deny file-read-data path "/a/b")
  (deny file-write-data path "/a/b")
  (allow file-read-data path "/a/c")
  (allow file-write-data path "/a/c"))

 ("a rule for those that know its word"
  "(version 1) (deny default) (if (defined? 'file-test-existence) (allow file-test-existence (subpath \"/a\")))"
  () ()
  (allow file-test-existence path "/a/b")
  (deny file-test-existence path "/b"))
 ("older: a rule for those that know its word"
  "(version 1) (deny default) (if (defined? 'file-test-existence) (allow file-test-existence (subpath \"/a\")))"
  () ()
  (deny file-test-existence path "/a/b"))
 ("older: a word that it does not know" "(version 1) (deny default) (allow file-test-existence (subpath \"/a\"))"
  () ("unknown operation: file-test-existence"))
 ("older: a star for a word that it does not know" "(version 1) (deny default) (allow file* (subpath \"/a\"))" () ())
 ("a question for a word that nobody knows"
  "(version 1) (deny default) (if (defined? 'file-raed) (allow file-read* (subpath \"/a\")))" () ("unknown operation: file-raed")
  (deny file-read-data path "/a"))
 ("a question for something else" "(version 1) (deny default) (if #t (allow file-read* (subpath \"/a\")))" () ("not a rule"))

 ("no rule means the default"
  "(version 1) (allow default) (deny file-write* (subpath \"/a\"))"
  () ()
  (allow file-read-data path "/x")
  (deny file-write-create path "/a/x")
  (allow file-write-create path "/ab"))

 ("of several filters one is enough"
  "(version 1) (deny default) (allow file-read-data (literal \"/a\") (literal \"/b\" \"/c\"))"
  () ()
  (allow file-read-data path "/a")
  (allow file-read-data path "/c")
  (deny file-read-data path "/a/b"))

 ("all of require-all, none of require-not"
  "(version 1) (deny default)
   (allow file-write-data (require-all (literal \"/dev/null\") (vnode-type CHARACTER-DEVICE)))
   (allow file-read-data (require-all (subpath \"/a\") (require-not (require-any (subpath \"/a/b\") (literal \"/a/c\")))))"
  () ()
  (allow file-write-data path "/dev/null" vnode-type CHARACTER-DEVICE)
  (deny file-write-data path "/dev/null" vnode-type REGULAR-FILE)
  (deny file-write-data path "/dev/null")
  (allow file-read-data path "/a/x")
  (deny file-read-data path "/a/b/x")
  (deny file-read-data path "/a/c"))

 ("a star stands for all that begin so"
  "(version 1) (deny default) (allow process-exec* (literal \"/x\")) (allow process-exec (literal \"/y\"))"
  () ()
  (allow process-exec path "/x")
  (allow process-exec-interpreter path "/x")
  (deny process-exec-interpreter path "/y")
  (deny process-fork))

 ("directories above, and not what is in them"
  "(version 1) (deny default) (allow file-read-metadata (path-ancestors \"/a/b/c\"))"
  () ()
  (allow file-read-metadata path "/")
  (allow file-read-metadata path "/a")
  (allow file-read-metadata path "/a/b")
  (deny file-read-metadata path "/a/b/c")
  (deny file-read-metadata path "/a/bc")
  (deny file-read-metadata path "/a/x"))

 ("parameters are values whatever is in them"
  "(version 1) (deny default) (allow file-read-data (subpath (param \"P\")))"
  (("P" . "/a\") (allow default) (\"")) ()
  (allow file-read-data path "/a\") (allow default) (\"/x")
  (deny file-read-data path "/a")
  (deny file-write-data path "/a"))

 ("addresses"
  "(version 1) (deny default) (allow network-outbound (remote tcp \"localhost:*\") (remote udp \"*:53\"))
   (allow network-outbound (literal \"/s\")) (allow network-bind (local ip \"*:*\"))
   (allow network-inbound (local unix-socket (subpath \"/u\")))"
  () ()
  (allow network-outbound proto tcp remote "localhost:80")
  (deny network-outbound proto tcp remote "192.0.2.1:80")
  (deny network-outbound proto udp remote "localhost:80")
  (allow network-outbound proto udp remote "192.0.2.1:53")
  (allow network-outbound proto unix path "/s")
  (deny network-outbound proto unix path "/s2")
  (allow network-bind proto udp local "[::]:1")
  (deny network-bind proto unix path "/s")
  (allow network-inbound proto unix path "/u/x"))

 ("words and names"
  "(version 1) (deny default (with message \"t\")) (allow signal (target same-sandbox))
   (allow sysctl-read (sysctl-name \"hw.ncpu\") (sysctl-name-prefix \"hw.optional.\"))
   (allow mach-lookup (global-name \"a.b\")) (allow ipc-posix-sem (ipc-posix-name-prefix \"/mp-\"))
   (allow system-socket (socket-domain AF_UNIX))"
  () ()
  (allow signal target same-sandbox)
  (deny signal target others)
  (allow sysctl-read sysctl "hw.ncpu")
  (deny sysctl-read sysctl "hw.ncpux")
  (allow sysctl-read sysctl "hw.optional.x")
  (deny mach-lookup global-name "a.bc")
  (allow ipc-posix-sem ipc-name "/mp-x")
  (deny ipc-posix-sem ipc-name "mp-x")
  (deny system-socket domain AF_INET))

 ("an unknown operation" "(version 1) (deny default) (allow file-raed*)" () ("file-raed*"))
 ("an unknown filter" "(version 1) (deny default) (allow file-read* (subdirectory \"/a\"))" () ("unknown filter")
  (deny file-read-data path "/a"))
 ("an unknown word" "(version 1) (deny default) (allow signal (target everyone))" () ("everyone")
  (deny signal target others))
 ("a filter of another operation" "(version 1) (deny default) (allow signal (subpath \"/a\"))" () ("subpath: says nothing about"))
 ("a relative path" "(version 1) (deny default) (allow file-read* (subpath \"a/b\"))" () ("not absolute"))
 ("a slash at the end" "(version 1) (deny default) (allow file-read* (subpath \"/a/\"))" () ("ends with a slash"))
 ("an empty part" "(version 1) (deny default) (allow file-read* (subpath \"/a//b\"))" () ("empty part"))
 ("a part that goes up" "(version 1) (deny default) (allow file-read* (literal \"/a/../b\"))" () ("empty part, . or .."))
 ("all files" "(version 1) (deny default) (allow file-read* (subpath \"/\"))" () ("is everything"))
 ("/tmp is a link" "(version 1) (deny default) (allow file-read* (subpath \"/tmp/x\"))" () ("behind a link"))
 ("/var is a link" "(version 1) (deny default) (allow file-read* (literal \"/var/db\"))" () ("behind a link"))
 ("the other name of the data's volume is not a name" "(version 1) (deny default) (allow file-read* (subpath \"/System/Volumes/Data/Users\"))" ()
  ("has another name"))
 ("/etc is a link" "(version 1) (deny default) (allow file-read* (literal \"/etc\"))" () ("behind a link"))
 ("a parameter behind a link" "(version 1) (deny default) (allow file-read* (literal (param \"P\")))" (("P" . "/tmp/x"))
  ("behind a link"))
 ("a link itself may be looked at" "(version 1) (deny default) (allow file-read-metadata (literal \"/etc\"))" () ()
  (allow file-read-metadata path "/etc"))
 ("a parameter that is missing" "(version 1) (deny default) (allow file-read* (subpath (param \"P\")))" () ("no such parameter")
  (deny file-read-data path "/a"))
 ("a text with other letters" "(version 1) (deny default) (allow file-read* (subpath \"/a b\"))" () ("plain letters"))
 ("a filter for nothing" "(version 1) (deny default) (allow file-read* (subpath))" () ("a filter for nothing"))
 ("no sandbox" "(version 1) (deny default) (allow process-exec (with no-sandbox) (literal \"/a\"))" () ("unknown modifier"))
 ("no version" "(deny default)" () ("(version 1)" "no rule for default"))
 ("no default" "(version 1) (allow process-fork)" () ("no rule for default") (allow process-fork) (deny signal target self))
 ("default with a filter" "(version 1) (deny default (literal \"/a\"))" () ("default stands alone"))
 ("default is first" "(version 1) (allow process-fork) (deny default)" () ("not the first"))
 ("an operation behind a filter" "(version 1) (deny default) (allow file-read* (literal \"/a\") file-write*)" () ("not a filter"))
 ("a rule without an operation" "(version 1) (deny default) (allow (literal \"/a\"))" () ("without an operation"))
 ("what is not a rule" "(version 1) (deny default) (define a 1)" () ("not a rule"))
 ("an import" "(version 1) (deny default) (import \"system.sb\")" () ("not a rule"))
 ("a parenthesis that stays open" "(version 1) (deny default) (allow file-read* (literal \"/a\")" () ("cannot be read")))
