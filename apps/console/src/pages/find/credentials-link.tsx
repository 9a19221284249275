import { Link } from '@tanstack/react-router';
import { useSignedIn } from '../../session/session.ts';
import type { Attempt } from './types.ts';

/** Reasons of failures that other credentials end. */
const REASONS: readonly (string | undefined)[] = ['credentials_unavailable', 'tls_certificate_required'];
const UNAUTHORIZED = 401;

/** Leads a client from an attempt that failed for want of credentials to those for its host. */
export function CredentialsLink({ attempt: { reason, http_status: status, url = '' } }: { attempt: Attempt }) {
  const { view } = useSignedIn();
  if (view === 'operator' || !(REASONS.includes(reason) || status === UNAUTHORIZED)) return null;
  const host = URL.canParse(url) ? new URL(url).host : undefined;
  return (
    <p>
      <Link to="/credentials" search={host === undefined ? {} : { host }}>
        Credentials{host !== undefined && ` for ${host}`}
      </Link>
    </p>
  );
}
