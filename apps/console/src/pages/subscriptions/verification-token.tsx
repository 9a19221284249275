import { useQuery } from '@tanstack/react-query';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { subscribing } from './subscribing.ts';

/** What every notification of a subscription carries, for the receiver to compare: shown to who asks. */
export function VerificationToken({ action }: { action: string }) {
  return <Disclosure summary="Verification token">{() => <Shown action={action} />}</Disclosure>;
}

function Shown({ action }: { action: string }) {
  const session = useSignedIn();
  const token = useQuery({
    queryKey: ['verification-token', action],
    queryFn: async () => (await subscribing(session).verificationToken(action)) ?? null,
    // Not longer than it is looked at.
    gcTime: 0,
  });
  return (
    <Found of={token} what="the token">
      {(found) =>
        found === null ? (
          <p>There is none any more: the subscription has ended.</p>
        ) : (
          <p>
            Compare <code>X-Service-Verification-Token</code> with <code>{found}</code>{' '}
            <CopyButton text={found} label="verification token" />
          </p>
        )
      }
    </Found>
  );
}
