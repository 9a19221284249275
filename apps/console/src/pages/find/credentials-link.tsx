import { Link } from '@tanstack/react-router';
import { useSignedIn } from '../../session/session.ts';
import type { Attempt } from './types.ts';

/** Reasons of failures that other credentials end. */
const REASONS: readonly (string | undefined)[] = ['credentials_unavailable', 'tls_certificate_required'];
const REFUSALS: readonly (number | undefined)[] = [401, 403];
/** Matches the text of nginx, whose status for a missing certificate is 400. */
const CERTIFICATE = /SSL certificate/;

/** Leads a client from an attempt that failed for want of credentials to those for its host. */
export function CredentialsLink({ attempt }: { attempt: Attempt }) {
  const { reason, http_status: status, answer = '', url = '' } = attempt;
  const { view, ask } = useSignedIn();
  const isForThem = REASONS.includes(reason) || REFUSALS.includes(status) || CERTIFICATE.test(answer);
  if (view === 'operator' || !isForThem) return null;
  const host = URL.canParse(url) ? new URL(url).host : undefined;
  if (ask.actingFor !== undefined)
    return <p className="small">Only the client itself can see and set its credentials.</p>;
  return (
    <p>
      <Link to="/credentials" search={host === undefined ? {} : { host }}>
        Credentials{host !== undefined && ` for ${host}`}
      </Link>
    </p>
  );
}
