;;; SPDX-License-Identifier: MIT
;;; profile.scm - a model of the language of Seatbelt profiles, which computes a profile's
;;; decisions.
;;;
;;; A profile is read as data and never evaluated: an unknown form is reported as a problem.
;;; Modelled are: rules in their order; a rule with several filters matches when one of them does;
;;; an operation that ends with * stands for all with that prefix; (param NAME) is a value given
;;; with -D; (if (defined? 'OPERATION) RULE) applies on systems that have the operation, and a
;;; system rejects an unknown operation elsewhere. Descriptions differ on which of several matching
;;; rules decides, so a profile has to mean the same in both `readings`. Not modelled is the
;;; behaviour of macOS: the kernel, links, rules that a system adds by itself. The model says what
;;; the text means, and reports text without a meaning.

(define-module (profile)
  #:use-module (srfi srfi-1)
  #:use-module (srfi srfi-9)
  #:use-module (ice-9 match)
  #:export (profile-read profile-problems profile-uses profile-decide operation-is-known? readings))

;;; Rules are newest first: (operations allows? filtered? . filter), a filter is a procedure of a query.
(define-record-type <profile>
  (make-profile rules default problems uses absent asked)
  profile?
  (absent profile-absent)                  ; operations that this system lacks
  (asked profile-asked)                    ; the rules of each operation that was asked about
  (rules profile-rules set-profile-rules!)
  (default profile-default set-profile-default!)
  (problems profile-problems set-profile-problems!)
  (uses profile-uses set-profile-uses!))   ; names of parameters that occur

(define operations
  '("file-chroot" "file-clone" "file-ioctl" "file-issue-extension" "file-link"
    "file-map-executable" "file-mknod" "file-mount" "file-unmount" "file-read-data"
    "file-read-metadata" "file-read-xattr" "file-search" "file-test-existence" "file-write-acl"
    "file-write-create" "file-write-data" "file-write-flags" "file-write-mode"
    "file-write-owner" "file-write-setugid" "file-write-times" "file-write-unlink"
    "file-write-xattr"
    "process-exec" "process-exec-interpreter" "process-fork" "process-info-codesignature"
    "process-info-dirtycontrol" "process-info-listpids" "process-info-pidfdinfo"
    "process-info-pidinfo" "process-info-rusage" "process-info-setcontrol"
    "network-bind" "network-inbound" "network-outbound" "system-socket"
    "signal" "sysctl-read" "sysctl-write"
    "mach-lookup" "mach-register" "mach-priv-host-port" "mach-priv-task-port" "mach-task-name"
    "mach-per-user-lookup" "mach-cross-domain-lookup"
    "ipc-posix-sem" "ipc-posix-shm-read-data" "ipc-posix-shm-read-metadata"
    "ipc-posix-shm-write-create" "ipc-posix-shm-write-data" "ipc-posix-shm-write-unlink"
    "ipc-sysv-msg" "ipc-sysv-sem" "ipc-sysv-shm"
    "iokit-get-properties" "iokit-open" "iokit-set-properties"
    "appleevent-send" "authorization-right-obtain" "device-camera" "device-microphone"
    "distributed-notification-post" "dynamic-code-generation" "generic-issue-extension"
    "hid-control" "job-creation" "load-unsigned-code" "lsopen" "nvram-delete" "nvram-get"
    "nvram-set" "pseudo-tty" "qtn-user" "system-acct" "system-audit" "system-chud"
    "system-debug" "system-fsctl" "system-info" "system-kext-load" "system-mac-label"
    "system-nfssvc" "system-privilege" "system-reboot" "system-sched" "system-set-time"
    "system-suspend-resume" "system-swap" "user-preference-read" "user-preference-write"))

;;; The attributes of a query for an operation of this family, which filters can test.
(define families
  '(("file" path vnode-type)
    ("process-exec" path)
    ("process-info" target)
    ("process*" path target)
    ("signal" target)
    ("network" path proto remote local)
    ("system-socket" domain)
    ("sysctl" sysctl)
    ("mach" global-name)
    ("ipc-posix" ipc-name)
    ("iokit" class)))

(define (operation-is-known? name) (and (member name operations) #t))

(define (is-wild? name) (string-suffix? "*" name))
(define (stem name) (substring name 0 (- (string-length name) 1)))

(define (operation-fits? of-rule name)
  (if (is-wild? of-rule)
      (string-prefix? (stem of-rule) name)
      (string=? of-rule name)))

(define (attributes-of operation)
  (let ((family (find (lambda (f) (string-prefix? (car f) operation)) families)))
    (if family (cdr family) '())))

;;; ---- reading ------------------------------------------------------------------------------------

(define (complain! profile . words)
  (set-profile-problems!
   profile
   (append (profile-problems profile)
           (list (string-join (map (lambda (w) (if (string? w) w (format #f "~s" w))) words) " ")))))

(define (forms-of text profile)
  (call-with-input-string text
    (lambda (port)
      (let loop ((forms '()))
        (let ((form (catch #t (lambda () (read port))
                      (lambda (key . rest)
                        (complain! profile "the text cannot be read:" key)
                        the-end))))
          (if (eof-object? form) (reverse forms) (loop (cons form forms))))))))
(define the-end (call-with-input-string "" read))

;;; Returns a profile; `parameters` is a list of (NAME . value), `absent` are operations that are
;;; newer than the system that reads it.
(define* (profile-read text parameters #:optional (absent '()))
  (let ((profile (make-profile '() #f '() '() absent (make-hash-table))))
    (match (forms-of text profile)
      ((('version 1) . rules)
       (for-each (lambda (form) (add-form! profile form parameters)) rules))
      (_ (complain! profile "the profile does not begin with (version 1)")))
    (unless (profile-default profile)
      (complain! profile "no rule for default"))
    profile))

(define (add-form! profile form parameters)
  (match form
    (('allow . rest) (add-rule! profile #t rest parameters))
    (('deny . rest) (add-rule! profile #f rest parameters))
    (('if ('defined? ('quote (? symbol? name))) ((or 'allow 'deny) . rest))
     (if (operation-is-known? (symbol->string name))
         (unless (member (symbol->string name) (profile-absent profile))
           (add-form! profile (caddr form) parameters))
         (complain! profile "a question for an unknown operation:" name)))
    (_ (complain! profile "not a rule:" form))))

(define (add-rule! profile allows? words parameters)
  (let* ((names (map symbol->string (take-while symbol? words)))
         (rest (drop-while symbol? words))
         (modifiers (filter is-modifier? rest))
         (forms (remove is-modifier? rest)))
    (for-each (lambda (m) (check-modifier! profile m)) modifiers)
    (when (null? names)
      (complain! profile "a rule without an operation:" words))
    (for-each (lambda (form)
                (unless (pair? form)
                  (complain! profile "not a filter:" form)))
              forms)
    (let ((filters (filter-map (lambda (form)
                                 (and (pair? form)
                                      (compile-filter profile form names parameters)))
                               forms)))
      (if (member "default" names)
          (begin
            (when (or (pair? forms) (pair? (cdr names)))
              (complain! profile "default stands alone:" words))
            (when (or (profile-default profile) (pair? (profile-rules profile)))
              (complain! profile "default is not the first rule"))
            (set-profile-default! profile (if allows? 'allow 'deny)))
          (begin
            (for-each (lambda (name) (check-operation! profile name)) names)
            (set-profile-rules!
             profile
             (cons (cons* names allows? (pair? forms)
                          (if (null? forms)
                              (lambda (query) #t)
                              (lambda (query) (any (lambda (fits?) (fits? query)) filters))))
                   (profile-rules profile))))))))

(define (check-operation! profile name)
  (unless (if (is-wild? name)
              (any (lambda (known) (operation-fits? name known)) operations)
              (and (operation-is-known? name) (not (member name (profile-absent profile)))))
    (complain! profile "unknown operation:" name)))

(define (is-modifier? form) (and (pair? form) (eq? (car form) 'with)))

(define (check-modifier! profile form)
  (match form
    (('with 'message (? string?)) #t)
    (('with (or 'report 'no-report 'no-log)) #t)
    (_ (complain! profile "unknown modifier:" form))))

;;; ---- filters ------------------------------------------------------------------------------------

(define (ask query key) (assq-ref query key))

;;; (NAME attribute makes): `makes` gets the checked texts and gives a procedure of the value.
(define (one-of texts) (lambda (value) (member value texts)))
(define (begins-with texts) (lambda (value) (any (lambda (t) (string-prefix? t value)) texts)))

(define (is-below? path directory)
  (and (string-prefix? directory path)
       (let ((len (string-length directory)))
         (or (= len (string-length path))
             (= len 1)                  ; the root
             (char=? (string-ref path len) #\/)))))
(define (is-above? path directory)
  (and (not (string=? path directory)) (is-below? directory path)))

(define path-filters
  `((literal ,one-of)
    (path ,one-of)
    (path-literal ,one-of)
    (subpath ,(lambda (texts) (lambda (path) (any (lambda (t) (is-below? path t)) texts))))
    (path-ancestors ,(lambda (texts) (lambda (path) (any (lambda (t) (is-above? path t)) texts))))))

(define text-filters
  `((global-name global-name ,one-of)
    (sysctl-name sysctl ,one-of)
    (sysctl-name-prefix sysctl ,begins-with)
    (ipc-posix-name ipc-name ,one-of)
    (ipc-posix-name-prefix ipc-name ,begins-with)
    (iokit-user-client-class class ,one-of)))

(define word-filters
  '((target target self same-sandbox others)
    (vnode-type vnode-type CHARACTER-DEVICE BLOCK-DEVICE REGULAR-FILE DIRECTORY SYMLINK FIFO SOCKET)
    (socket-domain domain AF_UNIX AF_INET AF_INET6 AF_SYSTEM AF_ROUTE)))

;;; Complains unless all operations of the rule have the attribute.
(define (check-attribute! profile form attribute names)
  (for-each
   (lambda (name)
     (unless (or (string=? name "default") (memq attribute (attributes-of name)))
       (complain! profile (format #f "~a: says nothing about" (car form)) name)))
   names))

(define (fits-by attribute fits?)
  (lambda (query)
    (let ((value (ask query attribute)))
      (and value (fits? value) #t))))

(define (never query) #f)

(define (compile-filter profile form names parameters)
  (define (inner f) (compile-filter profile f names parameters))
  (match form
    (('require-all . forms)
     (let ((filters (map inner forms)))
       (lambda (query) (every (lambda (fits?) (fits? query)) filters))))
    (('require-any . forms)
     (let ((filters (map inner forms)))
       (lambda (query) (any (lambda (fits?) (fits? query)) filters))))
    (('require-not form)
     (let ((fits? (inner form)))
       (lambda (query) (not (fits? query)))))
    (((and side (or 'remote 'local)) proto . rest)
     (check-attribute! profile form side names)
     (compile-endpoint profile side proto rest inner))
    (((? (lambda (name) (assq name path-filters)) name) . words)
     (check-attribute! profile form 'path names)
     (let ((texts (texts-of profile form words parameters)))
       (for-each (lambda (text) (check-path! profile name text names)) texts)
       (fits-by 'path ((cadr (assq name path-filters)) texts))))
    (((? (lambda (name) (assq name text-filters)) name) . words)
     (match (assq name text-filters)
       ((_ attribute makes)
        (check-attribute! profile form attribute names)
        (fits-by attribute (makes (texts-of profile form words parameters))))))
    (((? (lambda (name) (assq name word-filters)) name) word)
     (match (assq name word-filters)
       ((_ attribute . known)
        (check-attribute! profile form attribute names)
        (unless (memq word known)
          (complain! profile "unknown word:" form))
        (fits-by attribute (lambda (value) (eq? value word))))))
    (_ (complain! profile "unknown filter:" form)
       never)))

;;; Literal texts and values of parameters.
(define (texts-of profile form words parameters)
  (when (null? words)
    (complain! profile "a filter for nothing:" form))
  (filter-map
   (lambda (word)
     (match word
       ((? string?)
        (unless (every plain? (string->list word))
          (complain! profile "a text with other than plain letters:" word))
        word)
       (('param (? string? name))
        (set-profile-uses! profile (cons name (profile-uses profile)))
        (or (assoc-ref parameters name)
            (begin (complain! profile "no such parameter:" name) #f)))
       (_ (complain! profile "not a text:" word) #f)))
   words))

(define (plain? c)
  (or (char-alphabetic? c) (char-numeric? c) (memv c (string->list "/._-:*@"))))

;;; Paths that no file has when the kernel compares rules, because links are resolved. A link itself
;;; may be named for operations on its metadata.
(define links '("/etc" "/tmp" "/var"))

(define (check-path! profile filter path names)
  (define (wrong why) (complain! profile (format #f "~a: ~s ~a" filter path why)))
  (define parts (string-split path #\/))
  (cond
   ((not (string-prefix? "/" path)) (wrong "is not absolute"))
   ((string=? path "/")
    (when (eq? filter 'subpath) (wrong "is everything")))
   ((string-suffix? "/" path) (wrong "ends with a slash"))
   ((any (lambda (part) (member part '("" "." ".."))) (cdr parts)) (wrong "has an empty part, . or .."))
   ((and (member path links) (eq? filter 'literal) (or (equal? names '("file-read-metadata")) (equal? names '("file-test-existence")))) #t)
   ((is-below? path "/System/Volumes/Data") (wrong "has another name: without /System/Volumes/Data"))
   ((any (lambda (link) (is-below? path link)) links) (wrong "lies behind a link: write /private"))))

(define (compile-endpoint profile side proto rest inner)
  (define (of-ip? query-proto)
    (case proto
      ((ip) (memq query-proto '(tcp udp)))
      ((tcp udp) (eq? query-proto proto))
      (else #f)))
  (match (cons proto rest)
    (('unix-socket) (lambda (query) (eq? (ask query 'proto) 'unix)))
    (('unix-socket (? pair? form))
     (let ((fits? (inner form)))
       (lambda (query) (and (eq? (ask query 'proto) 'unix) (fits? query)))))
    (((or 'ip 'tcp 'udp)) (lambda (query) (and (of-ip? (ask query 'proto)) #t)))
    (((or 'ip 'tcp 'udp) (? string? pattern))
     (lambda (query)
       (let ((address (ask query side)))
         (and (of-ip? (ask query 'proto)) address (address-fits? pattern address)))))
    (_ (complain! profile "unknown address:" (cons* side proto rest))
       never)))

;;; "host:port", each of which may be *.
(define (address-fits? pattern address)
  (define (halves text)
    (let ((colon (string-rindex text #\:)))
      (list (substring text 0 colon) (substring text (+ colon 1)))))
  (every (lambda (p a) (or (string=? p "*") (string=? p a))) (halves pattern) (halves address)))

;;; ---- asking -------------------------------------------------------------------------------------

;;; Among the matching rules the last decides (notes of Chromium and Bazel); or, as MXC's authors
;;; have measured, a rule with a filter comes before one without, then one that names the operation
;;; before one with a wildcard, whatever their order, and only then the last decides.
(define readings '(by-order by-name))

;;; The rules for the operation, newest first: (weight allows? . fits?). Remembered, because most
;;; rules are for others, and the same few operations are asked about again and again.
(define (rules-for profile operation)
  (define (with-weight rule)
    (match rule
      ((names allows? filtered? . fits?)
       (and (any (lambda (name) (operation-fits? name operation)) names)
            (cons* (+ (if filtered? 2 0) (if (member operation names) 1 0)) allows? fits?)))))
  (or (hash-ref (profile-asked profile) operation)
      (hash-set! (profile-asked profile) operation
                 (filter-map with-weight (profile-rules profile)))))

;;; A query is a list of (attribute . value): 'allow or 'deny.
(define (profile-decide profile operation query reading)
  (define (fits? rule) ((cddr rule) query))
  (define (heavier rule best)
    (if (and (or (not best) (> (car rule) (car best))) (fits? rule)) rule best))
  (let ((rules (rules-for profile operation)))
    (match (if (eq? reading 'by-order) (find fits? rules) (fold heavier #f rules))
      (#f (or (profile-default profile) 'deny))
      ((weight allows? . fits?) (if allows? 'allow 'deny)))))
