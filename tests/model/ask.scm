;;; SPDX-License-Identifier: MIT
;;; ask.scm - puts tables of questions to profiles.
;;;
;;;   ask.scm language TABLE               the model itself, for small profiles
;;;   ask.scm plan FILE TABLE SET...       output of `lazaret plan --json`; questions for these sets
;;;   ask.scm mutations FILE TABLE MUTATIONS SET...
;;;                                        the same plan, broken in one place after another: each time
;;;                                        an answer has to be wrong
;;; Prints what is wrong, and a last line of numbers; the status is 1 when something is.

(use-modules (profile) (json)
             (srfi srfi-1) (ice-9 match))

(setlocale LC_ALL "")
(for-each (lambda (port) (set-port-encoding! port "UTF-8"))
          (list (current-output-port) (current-error-port)))
(fluid-set! %default-port-encoding "UTF-8")

(define failures 0)
(define (wrong! . words)
  (set! failures (+ failures 1))
  (for-each display words)
  (newline))

(define (table-of file) (call-with-input-file file read))

;;; ---- questions ----------------------------------------------------------------------------------

;;; (at NAME SUFFIX) is a path that the plan determines.
(define (text-of value places)
  (match value
    (('at name suffix)
     (string-append (or (assq-ref places name) (error "no such place:" name)) suffix))
    (_ value)))

;;; Key and value in turn, as a query.
(define (query-of words places)
  (match words
    (() '())
    ((key value . rest) (acons key (text-of value places) (query-of rest places)))))

;;; The readings in which the answer is wrong. A question may be for only one of them.
(define (wrong-in profile question places)
  (match question
    (((? (lambda (word) (memq word readings)) reading) verdict operation . words)
     (if (right? profile verdict operation words places reading) '() (list reading)))
    ((verdict operation . words)
     (remove (lambda (reading) (right? profile verdict operation words places reading)) readings))))

(define (right? profile verdict operation words places reading)
  (let ((name (symbol->string operation)))
    (unless (operation-is-known? name) (error "a question about an unknown operation:" name))
    (eq? verdict (profile-decide profile name (query-of words places) reading))))

;;; Operations that a macOS may lack although it accepts the rest of a profile.
(define newer '("file-test-existence"))

;;; ---- the model itself ---------------------------------------------------------------------------

(define (ask-language table)
  (for-each
   (match-lambda
     ((title text parameters complaints . questions)
      (let* ((profile (profile-read text parameters (if (string-prefix? "older: " title) newer '())))
             (problems (profile-problems profile)))
        (unless (and (= (length problems) (length complaints))
                     (every (lambda (part) (any (lambda (p) (string-contains p part)) problems)) complaints))
          (wrong! title ": complaints " problems ", expected " complaints))
        (for-each (lambda (question)
                    (let ((in (wrong-in profile question '())))
                      (unless (null? in)
                        (wrong! title ": not so: " question " " in))))
                  questions))))
   table)
  (format #t "~a profiles, ~a questions, ~a wrong\n" (length table)
          (fold (lambda (row n) (+ n (length (list-tail row 4)))) 0 table) failures))

;;; ---- plans --------------------------------------------------------------------------------------

;;; Reads a plan: the text of its profile, its parameters and places.
(define (plan-of file)
  (let* ((plan (json-get (call-with-input-file file json-read) "plan"))
         (argv (vector->list (json-get plan "argv")))
         (profile (vector-ref (json-get plan "files") 0))
         (environment (vector->list (json-get plan "environment")))
         (parameters (parameters-of (member "/usr/bin/sandbox-exec" argv)
                                    (json-get profile "path"))))
    (list (json-get profile "content")
          parameters
          `((agent . ,(car argv))
            (home . ,(value-of environment "HOME="))
            (socket . ,(value-of environment "LAZARET_SOCKET="))))))

(define (value-of words begin)
  (let ((found (find (lambda (w) (string-prefix? begin w)) words)))
    (unless found (error "the plan has no" begin))
    (substring found (string-length begin))))

;;; The values of -D up to -f, which has to name the file; the agent follows.
(define (parameters-of words file)
  (let loop ((words (cdr words)) (parameters '()))
    (match words
      (("-D" word . rest)
       (let ((equals (string-index word #\=)))
         (loop rest (acons (substring word 0 equals) (substring word (+ equals 1)) parameters))))
      (("-f" (? (lambda (f) (string=? f file))) agent . rest) (reverse parameters))
      (_ (error "sandbox-exec is not called with -D and -f:" words)))))

;;; The questions that are for one of the sets, with their titles.
(define (questions-for table sets)
  (append-map (match-lambda
                ((of-sets . questions)
                 (if (any (lambda (set) (memq set sets)) of-sets) questions '())))
              table))

;;; Problems that stop an older system but not a current one.
(define (problems-of-older text parameters problems)
  (lset-difference string=? (profile-problems (profile-read text parameters newer)) problems))

;;; Counts wrong answers in any reading.
(define (count-wrong text parameters places questions)
  (let ((profile (profile-read text parameters)))
    (for-each (lambda (p) (wrong! "the profile: " p)) (profile-problems profile))
    (for-each (lambda (p) (wrong! "the profile, on an older system: " p))
              (problems-of-older text parameters (profile-problems profile)))
    (count (match-lambda
             ((title . question)
              (let ((in (wrong-in profile question places)))
                (when (pair? in)
                  (wrong! title ": not so: " question " " in))
                (pair? in))))
           questions)))

;;; True when an answer is wrong, or when an older system rejects the text.
(define (noticed? text parameters places questions)
  (let ((profile (profile-read text parameters)))
    (or (any (match-lambda ((title . question) (pair? (wrong-in profile question places)))) questions)
        (pair? (problems-of-older text parameters (profile-problems profile))))))

;;; Every parameter is defined once and used, and the text contains no path of the plan.
(define (check-parameters text parameters)
  (let ((uses (profile-uses (profile-read text parameters))))
    (for-each
     (match-lambda
       ((name . value)
        (unless (member name uses)
          (wrong! "the parameter " name " is in no rule"))
        (unless (= 1 (count (lambda (p) (string=? name (car p))) parameters))
          (wrong! "the parameter " name " is given twice"))
        (when (string-contains text value)
          (wrong! "the text has the path of " name ": " value))))
     parameters)))

(define (ask-plan file table sets)
  (match (plan-of file)
    ((text parameters places)
     (let ((questions (questions-for table sets)))
       (check-parameters text parameters)
       (count-wrong text parameters places questions)
       (format #t "~a parameters, ~a questions, ~a wrong\n" (length parameters)
               (length questions) failures)))))

;;; ---- mutations ----------------------------------------------------------------------------------

(define (replace-all text old new)
  (let ((at (string-contains text old)))
    (if at
        (string-append (substring text 0 at) new
                       (replace-all (substring text (+ at (string-length old))) old new))
        text)))

;;; The rule that begins with these words, up to the end of its form.
(define (rule-in text begin)
  (let ((at (string-contains text begin)))
    (and at
         (call-with-input-string (substring text at)
           (lambda (port)
             (read port)
             (substring text at (+ at (ftell port))))))))

;;; A new text and new parameters.
(define (mutate text parameters places change)
  (match change
    (('text old new) (values (replace-all text old new) parameters))
    (('drop begin)
     (let ((rule (rule-in text begin)))
       (values (if rule (replace-all text rule "") text) parameters)))
    (('last begin)                      ; the rule moves to the end
     (let ((rule (rule-in text begin)))
       (values (if rule (string-append (replace-all text rule "") rule) text) parameters)))
    (('first begin)                     ; the rule moves before all others but the default
     (let ((rule (rule-in text begin))
           (default (rule-in text "(deny default")))
       (values (if (and rule default)
                   (replace-all (replace-all text rule "") default (string-append default rule))
                   text)
               parameters)))
    (('add rule) (values (string-append text rule) parameters))
    (('path old new)
     (let ((old (text-of old places)))
       (values text (map (lambda (p) (if (string=? (cdr p) old) (cons (car p) new) p)) parameters))))))

(define (ask-mutations file table mutations sets)
  (match (plan-of file)
    ((text parameters places)
     (let ((questions (questions-for table sets)))
       (for-each
        (match-lambda
          ((title change)
           (call-with-values (lambda () (mutate text parameters places change))
             (lambda (new-text new-parameters)
               (cond
                ((and (string=? text new-text) (equal? parameters new-parameters))
                 (wrong! "mutation changes nothing: " title))
                ((not (noticed? new-text new-parameters places questions))
                 (wrong! "mutation is not noticed: " title)))))))
        mutations)
       (format #t "~a mutations, ~a wrong\n" (length mutations) failures)))))

(match (cdr (command-line))
  (("language" table) (ask-language (table-of table)))
  (("plan" file table . sets) (ask-plan file (table-of table) (map string->symbol sets)))
  (("mutations" file table mutations . sets)
   (ask-mutations file (table-of table) (table-of mutations) (map string->symbol sets)))
  (_ (wrong! "usage: ask.scm language|plan|mutations ...")))
(exit (if (zero? failures) 0 1))
