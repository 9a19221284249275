import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { ProblemAnswer } from '../../api/problem.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Dialog, DialogTools } from '../../parts/dialog.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Failed, Found } from '../../parts/states.tsx';
import { CopyButton } from '../../parts/text-block.tsx';
import { writtenHere } from '../../parts/time.ts';
import { Moment } from '../../parts/values.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';

/** Signing secrets, and their rotation. */
export function SecretsPage() {
  const session = useSignedIn();
  return mayWrite(session) ? (
    <Secrets />
  ) : (
    <Page title="Signing secrets">
      <Empty>
        <p>
          Secrets need an access token with the scope <code>webhooks:write</code>.
        </p>
      </Empty>
    </Page>
  );
}

function Secrets() {
  const [isRotating, setRotating] = useState(false);
  const secrets = useAnswer(['secrets'], ({ client }) => client.GET('/v1/signing-secrets'));
  const tools = (
    <button type="button" className="main" onClick={() => setRotating(true)}>
      Rotate
    </button>
  );
  return (
    <Page title="Signing secrets" tools={tools}>
      <p>
        Notifications are signed as Standard Webhooks describes. Verify <code>webhook-signature</code> with any of
        these.
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
      {isRotating && <RotateDialog secrets={secrets.data?.objects ?? []} close={() => setRotating(false)} />}
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
        Created <Moment at={createdAt} />
        {expiresAt === null ? ', current' : ', works until '}
        {expiresAt !== null && <Moment at={expiresAt} />}
      </span>
    </div>
  );
}

function RotateDialog({ secrets, close }: { secrets: readonly SecretProps[]; close: () => void }) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const notify = useNotify();
  const rotate = useMutation({
    mutationFn: (force: boolean) => answerOf(api.client.POST('/v1/signing-secrets/rotate', { body: { force } })),
    onSuccess: async ({ objects }) => {
      const until = oldUntil(objects);
      notify(until === undefined ? 'New secret created.' : `Old secret works until ${writtenHere(until)}.`);
      close();
      await queries.invalidateQueries({ queryKey: ['secrets'] });
    },
  });
  const isUnderWay = rotate.error instanceof ProblemAnswer && rotate.error.kind === 'rotation-under-way';
  return (
    <Dialog title="Rotate the signing secret?" close={close}>
      <p>
        Notifications are signed with a new secret and, for a while, with the current one too. Add the new secret to
        your receiver before that ends.
      </p>
      {isUnderWay && <UnderWay until={oldUntil(secrets)} />}
      {rotate.error !== null && !isUnderWay && <Failed error={rotate.error} />}
      <DialogTools
        does={isUnderWay ? 'End the old secret and rotate' : 'Rotate'}
        isDangerous={isUnderWay}
        isPending={rotate.isPending}
        close={close}
        onClick={() => rotate.mutate(isUnderWay)}
      />
    </Dialog>
  );
}

function UnderWay({ until }: { until: string | undefined }) {
  return (
    <p className="why" role="alert">
      The last rotation is not over: the old secret works until {until === undefined ? 'later' : <Moment at={until} />}.
      Rotating now ends it at once.
    </p>
  );
}

/** When the secret before the current one ends; undefined where there is none. */
const oldUntil = (secrets: readonly SecretProps[]): string | undefined =>
  secrets.find(({ expires_at: expiresAt }) => expiresAt !== null)?.expires_at ?? undefined;
