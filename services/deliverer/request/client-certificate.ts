import { createSecureContext, type SecureContext } from 'node:tls';
import { LEAST_TLS } from '@waybell/runtime/callback-terms';

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
export class UnusableCertificate extends Error {
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
