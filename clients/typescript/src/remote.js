// SPDX-License-Identifier: MIT
// A server on another machine: `lazaret serve --listen tls://...`, and who we are to it.

import { fstatSync, closeSync, openSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, connect, createSecureContext } from 'node:tls';

import { Channel } from './channel.js';
import { LazaretError, SetupFailed } from './results.js';

const PORT = 8443; // where a URL names none
const IDLE = 60_000; // milliseconds after which it is asked whether the other machine is still there
const URL_FORM = /^tls:\/\/(?:\[([^[\]@/?#]+)\]|([^:[\]@/?#]+))(?::(\d{1,5}))?$/;

/** The codes of a certificate that nobody has signed who is trusted here. */
const UNKNOWN_SIGNERS = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE'];
/** Those of one that is not valid for other reasons. */
const NOT_VALID = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'CERT_REVOKED', 'CERT_REJECTED',
  'CERT_UNTRUSTED', 'CERT_SIGNATURE_FAILURE', 'CERT_CHAIN_TOO_LONG', 'INVALID_CA',
  'INVALID_PURPOSE', 'PATH_LENGTH_EXCEEDED'];
const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** The host and the port of tls://HOST[:PORT]. */
export function addressOf(url) {
  const [, six, host = six, port = PORT] = URL_FORM.exec(url) ?? [];
  if (!host || Number(port) > 65535) {
    throw new TypeError(`'${url}' is not the URL of a server, as tls://HOST:PORT`);
  }
  return { host, port: Number(port) };
}

/** Throws a TypeError where options of a server elsewhere contradict themselves. */
export function checkRemote(url, access) {
  const given = Object.keys(access).filter((name) => access[name] !== undefined);
  if (url === undefined) {
    if (!given.length) return;
    throw new TypeError(`${given.join(', ')}: for a server on another machine, which needs its ` +
      'url as well');
  }
  addressOf(url);
  if (access.token !== undefined && access.tokenFile !== undefined) {
    throw new TypeError('token and tokenFile are two ways to give the same: give one of them');
  }
  if ((access.cert === undefined) !== (access.key === undefined)) {
    throw new TypeError('cert and key go together');
  }
}

// ---- who we are ---------------------------------------------------------------------------------

function readSecret(path) {
  const file = openSync(path);
  try {
    if (process.platform !== 'win32' && fstatSync(file).mode & 0o077) {
      throw new SetupFailed(`${path}: others can read this token; chmod 600`);
    }
    return readFileSync(file, 'latin1');
  } finally {
    closeSync(file);
  }
}

function tokenOf({ token, tokenFile }) {
  if (tokenFile === undefined) return token === undefined ? undefined : String(token).trim();
  try {
    const [word] = readSecret(tokenFile).trim().split(/\s/);
    if (!word) throw new SetupFailed(`${tokenFile}: there is no token in it`);
    return word;
  } catch (error) {
    throw error instanceof LazaretError ? error
      : new SetupFailed(`tokenFile cannot be read: ${error.message}`, { cause: error });
  }
}

/** The content of a file of this option, which has something of this kind. */
function pem(name, path, what) {
  let text;
  try {
    text = readFileSync(path, 'latin1');
  } catch (error) {
    throw new SetupFailed(`${name} is ${path}: ${error.message}`, { cause: error });
  }
  if (!text.includes(`${what}-----`)) {
    throw new SetupFailed(`${name} is ${path}: there is no ${what.toLowerCase()} in it`);
  }
  return text;
}

function secureContext({ ca, cert, key }) {
  const parts = {
    ca: ca === undefined ? undefined : pem('ca', ca, 'CERTIFICATE'),
    cert: cert === undefined ? undefined : pem('cert', cert, 'CERTIFICATE'),
    key: key === undefined ? undefined : pem('key', key, 'PRIVATE KEY'),
  };
  try {
    return createSecureContext({ ...parts, minVersion: 'TLSv1.3' });
  } catch (error) {
    const what = cert === undefined ? `ca is ${ca}` : `cert is ${cert}, and key ${key}`;
    throw new SetupFailed(`${what}: ${error.message}`, { cause: error });
  }
}

// ---- the connection -----------------------------------------------------------------------------

/** Why there is no connection, in words. */
function whyNot(url, error) {
  const { code = '' } = error;
  // Of several addresses of a host, each has its own error.
  const message = error.message || error.errors?.[0]?.message || code;
  if (UNKNOWN_SIGNERS.includes(code)) {
    return `the certificate of ${url} is not accepted: ${message}; name who has signed it by ` +
      '{ ca: FILE }';
  }
  if (code === OTHER_NAME) {
    return `the certificate of ${url} is not accepted: ${error.reason ?? message} If it has ` +
      'another name, give that by { serverName }';
  }
  if (NOT_VALID.includes(code)) return `the certificate of ${url} is not accepted: ${message}`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return `${url} does not speak TLS 1.3 with this client: ${error.reason ?? message}`;
  }
  return `cannot connect to ${url}: ${message}`;
}

/** The connection to a server on another machine. */
export class TlsChannel extends Channel {
  constructor(url, access) {
    super(`the server at ${url}`);
    const { host, port } = addressOf(url);
    const name = access.serverName ?? host;
    const token = tokenOf(access);
    let failure;
    let isConnected = false;
    this._writer = connect({
      host,
      port,
      secureContext: secureContext(access),
      minVersion: 'TLSv1.3',
      rejectUnauthorized: true, // whatever the environment says
      servername: isIP(name) ? '' : name,
      checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    })
      .setNoDelay(true)
      .setKeepAlive(true, IDLE)
      .on('secureConnect', () => { // not before: nothing is said to a stranger
        isConnected = true;
        this.write(`${JSON.stringify({ type: 'authenticate', token })}\n`);
      })
      .on('data', (chunk) => this._read(chunk))
      .on('error', (error) => {
        failure ??= error;
      })
      .on('close', () => {
        const why = this._why || failure?.message;
        if (isConnected) {
          this._finish(`${this.name} has closed the connection${why ? `: ${why}` : ''}`);
        } else {
          this._finish(this._why ? `cannot connect to ${url}: ${this._why}`
            : whyNot(url, failure ?? new Error('the connection was closed')));
        }
      });
  }

  _kill() {
    this._writer.destroy();
  }

  hold(isHeld) {
    this._writer[isHeld ? 'ref' : 'unref']();
  }
}
