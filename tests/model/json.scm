;;; SPDX-License-Identifier: MIT
;;; json.scm - reads JSON text: objects as lists of (name . value), arrays as vectors.
;;;
;;; For the output of `lazaret plan --json`; raises an error for anything that is not JSON.

(define-module (json)
  #:use-module (ice-9 rdelim)
  #:export (json-read json-get))

(define (fail port what) (error "not JSON:" what (port-line port) (port-column port)))

(define (skip-space port)
  (let ((c (peek-char port)))
    (when (and (char? c) (memv c '(#\space #\tab #\newline #\return)))
      (read-char port)
      (skip-space port))))

(define (expect port c)
  (unless (eqv? (read-char port) c) (fail port c)))

(define (read-hex port)
  (let loop ((n 0) (value 0))
    (if (= n 4)
        value
        (let ((digit (string->number (string (read-char port)) 16)))
          (unless digit (fail port "a hexadecimal digit"))
          (loop (+ n 1) (+ (* 16 value) digit))))))

(define (read-escape port)
  (let ((c (read-char port)))
    (case c
      ((#\" #\\ #\/) c)
      ((#\b) #\backspace)
      ((#\f) #\page)
      ((#\n) #\newline)
      ((#\r) #\return)
      ((#\t) #\tab)
      ((#\u)
       (let ((high (read-hex port)))
         (if (<= #xd800 high #xdbff)
             (begin
               (expect port #\\)
               (expect port #\u)
               (integer->char (+ #x10000 (* #x400 (- high #xd800)) (- (read-hex port) #xdc00))))
             (integer->char high))))
      (else (fail port "an escape")))))

(define (read-text port)
  (expect port #\")
  (let loop ((chars '()))
    (let ((c (read-char port)))
      (cond
       ((eof-object? c) (fail port "the end of a string"))
       ((char=? c #\") (list->string (reverse chars)))
       ((char=? c #\\) (loop (cons (read-escape port) chars)))
       (else (loop (cons c chars)))))))

;;; Items up to `end`, each read by `item`.
(define (read-items port end item)
  (read-char port)
  (skip-space port)
  (if (eqv? (peek-char port) end)
      (begin (read-char port) '())
      (let loop ((items (list (item port))))
        (skip-space port)
        (let ((c (read-char port)))
          (cond
           ((eqv? c end) (reverse items))
           ((eqv? c #\,) (loop (cons (item port) items)))
           (else (fail port end)))))))

(define (read-member port)
  (skip-space port)
  (let ((name (read-text port)))
    (skip-space port)
    (expect port #\:)
    (cons name (json-read port))))

(define (read-word port)
  (let* ((word (read-delimited ",]} \n\t\r" port 'peek))
         (known (assoc word '(("true" . #t) ("false" . #f) ("null" . null)))))
    (if known (cdr known) (or (string->number word) (fail port word)))))

(define (json-read port)
  (skip-space port)
  (case (peek-char port)
    ((#\{) (read-items port #\} read-member))
    ((#\[) (list->vector (read-items port #\] json-read)))
    ((#\") (read-text port))
    (else (read-word port))))

(define (json-get object name)
  (let ((found (assoc name object)))
    (unless found (error "the JSON object lacks" name))
    (cdr found)))
