import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { told } from '../../../api/ask.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { useTell } from '../../../parts/notices.tsx';
import { Failed } from '../../../parts/states.tsx';
import { Foreign } from '../../../parts/text-block.tsx';
import { useSignedIn } from '../../../session/session.ts';
import { counted } from '../../../parts/counted.ts';
import type { AccessToken, GoingOn } from '../types.ts';

/** Ends an access token, once somebody has confirmed it. */
export function RevokeToken({ token }: { token: AccessToken }) {
  const [isAsking, setAsking] = useState(false);
  const close = () => setAsking(false);
  return (
    <>
      <button
        type="button"
        className="danger"
        aria-label={`Revoke ${token.guid.slice(0, 8)}`}
        onClick={() => setAsking(true)}
      >
        Revoke
      </button>
      {isAsking && <RevokeDialog token={token} close={close} />}
    </>
  );
}

function RevokeDialog({ token: { guid, client_id, last_used_at }, close }: { token: AccessToken; close: () => void }) {
  const { ask } = useSignedIn();
  const queries = useQueryClient();
  const tell = useTell();
  const revoke = useMutation({
    mutationFn: () => told(ask.operator.DELETE('/v1/admin/tokens/{guid}', { params: { path: { guid } } })),
    onSuccess: async (goingOn: GoingOn | undefined) => {
      const count = goingOn?.subscriptions_of_account || goingOn?.subscriptions || 0;
      const whose = goingOn?.subscriptions_of_account ? 'of the account: close it to end them' : 'of this client';
      tell(
        count === 0 ? 'Token revoked.' : `Token revoked. ${counted(count, 'subscription')} ${whose} go on without one.`,
      );
      close();
      await queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  return (
    <Dialog title="Revoke access token?" close={close}>
      <div className="part">
        <p>
          Token <code>{guid}</code> of client <Foreign text={client_id} /> stops working at once.
        </p>
        <p>Last used: {last_used_at === null ? 'never' : <Moment at={last_used_at} />}</p>
        {revoke.error !== null && <Failed error={revoke.error} />}
        <div className="tools">
          <button type="button" className="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
            {revoke.isPending ? 'Revoking …' : 'Revoke'}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </div>
    </Dialog>
  );
}
