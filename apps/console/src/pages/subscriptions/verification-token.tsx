import { useTold } from '../../api/use-told.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Found } from '../../parts/states.tsx';

/** What every notification of a subscription carries, for the receiver to compare: asked for only once it is to be shown. */
export function VerificationToken({ guid }: { guid: string }) {
  return <Disclosure summary="Verification token">{() => <Shown guid={guid} />}</Disclosure>;
}

function Shown({ guid }: { guid: string }) {
  const subscription = useTold(
    ['verification-token', guid],
    ({ client }) => client.GET('/v1/subscriptions/{guid}', { params: { path: { guid } } }),
    // Not longer than it is looked at.
    { gcTime: 0 },
  );
  return (
    <Found of={subscription} what="the token">
      {({ verification_token: token }) =>
        token !== undefined && (
          <p>
            Compare <code>X-Service-Verification-Token</code> with <code>{token}</code>{' '}
            <CopyButton text={token} label="verification token" />
          </p>
        )
      }
    </Found>
  );
}
