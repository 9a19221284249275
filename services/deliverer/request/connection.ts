import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { LEAST_TLS } from '@waybell/runtime/callback-terms';
import type { Clock } from '@waybell/runtime/clock';
import type { HeadReader } from './head-reader.ts';

/** A connection as far as it is known: its address, and when each phase of making it ended, by its clock. */
export type Connection = {
  readonly clock: Clock;
  readonly begunAt: number;
  /** Absent if it authenticates by no certificate. */
  readonly identity?: Identity;
  /** The address that it is connected to, that is being tried, or that is blocked. */
  ip?: string;
  /** Has the address go last among those of its host, for a while. Present if there are several. */
  avoid?: () => void;
  resolvedAt?: number;
  connectedAt?: number;
  securedAt?: number;
  /** The receiver may ask for the certificate after the handshake, as TLS 1.3 allows: Node.js cannot show it then. */
  mayAskLater?: boolean;
  /** Makes the next connection do a whole handshake. Present if it authenticates with a certificate. */
  forgetSession?: () => void;
  /** TLS has begun, and is not agreed on yet. */
  isSecuring?: boolean;
  /** The receiver's certificate was not accepted. */
  isUntrusted?: boolean;
  /** Whether the receiver had shown a certificate, not checked yet, when the handshake failed. */
  hasShownItself?: boolean;
  /** The socket beneath TLS, and how many bytes had come over it when the last request began. */
  wire?: Socket;
  readBefore?: number;
  head?: HeadReader;
  /** Number of requests begun over it. */
  requests?: number;
};

/** Opens a plain connection. Rejects with `Unavailable` if there is no way out to any address. */
export type OpenAddress = (to: LookupAddress, port: number, signal: AbortSignal) => Promise<Socket>;

/** The address to connect to, with the connection in which to note what becomes known. */
type ConnectTarget = buildConnector.Options & { connection: Connection };
export type Connector = (target: ConnectTarget, done: buildConnector.Callback) => void;

/** Counts bytes and reads responses from now on for the request that begins. */
export function beginRequest(connection: Connection): void {
  connection.readBefore = connection.wire?.bytesRead ?? 0;
  connection.requests = (connection.requests ?? 0) + 1;
  connection.head?.expectResponse();
}

/** Bytes that came since the last request began, including TLS's own. */
export function bytesSince({ wire, readBefore = 0 }: Connection): number {
  return (wire?.bytesRead ?? 0) - readBefore;
}

/** Authenticates this side of TLS connections. `guid`: of the credentials that it is of, another with each change of them. */
export type ClientCertificate = {
  guid: string;
  /** The certificate and its intermediates, in PEM. */
  chain: string;
  /** In PEM. */
  key: string;
};

/** A certificate as connections use it, made once for all of a pool. */
export type Identity = { guid: string; secureContext: SecureContext };

/** TLS does not accept it, though it did when it was stored: versions and security levels of OpenSSL differ. */
class UnusableCertificate extends Error {
  readonly code = 'UNUSABLE_CERTIFICATE';
  constructor(cause: unknown) {
    super('TLS does not take the certificate or its key', { cause });
    this.name = 'UnusableCertificate';
  }
}

/** Reads certificate and key. `maxVersion`: of TLS; the newest, unless given. Throws UnusableCertificate. */
export function identityOf({ guid, chain, key }: ClientCertificate, maxVersion?: 'TLSv1.2'): Identity {
  const versions = { minVersion: LEAST_TLS, ...(maxVersion && { maxVersion }) } as const;
  try {
    // Sessions of one version cannot be resumed by another.
    return { guid: guid + (maxVersion ?? ''), secureContext: createSecureContext({ ...versions, cert: chain, key }) };
  } catch (error) {
    throw new UnusableCertificate(error);
  }
}
