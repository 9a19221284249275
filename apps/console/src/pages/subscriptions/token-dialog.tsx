import { useTold } from '../../api/use-told.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Found } from '../../parts/states.tsx';
import type { Subscription } from './subscribing.ts';

type TokenProps = { subscription: Subscription; close: () => void };

/** The verification token in each notification of a subscription: requested only once it is to be shown. */
export function TokenDialog({ subscription: { guid, action }, close }: TokenProps) {
  const subscription = useTold(
    ['verification-token', guid],
    ({ client }) => client.GET('/v1/subscriptions/{guid}', { params: { path: { guid } } }),
    // Not longer than it is looked at.
    { gcTime: 0 },
  );
  return (
    <Dialog title={`Verification token of ${action}`} close={close}>
      <Found of={subscription} what="the token">
        {({ verification_token: token }) =>
          token === undefined ? (
            <p>Only the client itself is shown its tokens.</p>
          ) : (
            <>
              <p>
                Sent with every notification as <code>X-Service-Verification-Token</code>: compare it, or verify the
                signature.
              </p>
              <p className="line">
                <code>{token}</code> <CopyButton text={token} label="verification token" />
              </p>
            </>
          )
        }
      </Found>
    </Dialog>
  );
}
