import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { told } from '../../api/ask.ts';
import { ProblemAnswer } from '../../api/problem.ts';
import { useTold } from '../../api/use-told.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Moment } from '../../parts/moment.tsx';
import { useTell } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Failed, Found } from '../../parts/states.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';

/** What notifications are signed with, and its rotation. */
export function SecretsPage() {
  const session = useSignedIn();
  return mayWrite(session) ? (
    <Secrets />
  ) : (
    <Page title="Signing secrets">
      <Empty>
        <p>
          This access token may only read. One with the scope <code>webhooks:write</code> shows the secrets.
        </p>
      </Empty>
    </Page>
  );
}

function Secrets() {
  const [isRotating, setRotating] = useState(false);
  const secrets = useTold(['secrets'], ({ client }) => client.GET('/v1/signing-secrets'));
  const tools = (
    <button type="button" className="main" onClick={() => setRotating(true)}>
      Rotate
    </button>
  );
  return (
    <Page title="Signing secrets" tools={tools}>
      <p>
        Notifications are signed as Standard Webhooks says. Check <code>webhook-signature</code> with any of these.
      </p>
      <Found of={secrets} what="the secrets">
        {({ objects }) => (
          <ul className="cards">
            {objects.map((each) => (
              <li key={each.secret} className="card">
                <Secret {...each} />
              </li>
            ))}
          </ul>
        )}
      </Found>
      {isRotating && <RotateDialog close={() => setRotating(false)} />}
    </Page>
  );
}

type SecretProps = { secret: string; created_at: string; expires_at: string | null };

function Secret({ secret, created_at: createdAt, expires_at: expiresAt }: SecretProps) {
  const [isShown, setShown] = useState(false);
  return (
    <div className="line">
      <code>{isShown ? secret : `${secret.slice(0, 6)}••••••••`}</code>
      <button type="button" onClick={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </button>
      <CopyButton text={secret} label="secret" />
      <span className="quietly">
        since <Moment at={createdAt} />
        {expiresAt === null ? ', current' : ', valid until '}
        {expiresAt !== null && <Moment at={expiresAt} />}
      </span>
    </div>
  );
}

function RotateDialog({ close }: { close: () => void }) {
  const { ask } = useSignedIn();
  const queries = useQueryClient();
  const tell = useTell();
  const rotate = useMutation({
    mutationFn: (force: boolean) => told(ask.client.POST('/v1/signing-secrets/rotate', { body: { force } })),
    onSuccess: async () => {
      tell('There is a new secret. The one of before stays valid beside it for a while.');
      close();
      await queries.invalidateQueries({ queryKey: ['secrets'] });
    },
  });
  const isUnderWay = rotate.error instanceof ProblemAnswer && rotate.error.kind === 'rotation-under-way';
  return (
    <Dialog title="Rotate the signing secret?" close={close}>
      <p>
        From now on notifications carry a signature by a new secret, and for a while one by the current secret too. Let
        your receiver check with both before that ends.
      </p>
      {rotate.error !== null && <Failed error={rotate.error} />}
      <div className="tools">
        {isUnderWay ? (
          <button type="button" className="danger" disabled={rotate.isPending} onClick={() => rotate.mutate(true)}>
            End the earlier one at once, and rotate
          </button>
        ) : (
          <button type="button" className="main" disabled={rotate.isPending} onClick={() => rotate.mutate(false)}>
            Rotate
          </button>
        )}
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
