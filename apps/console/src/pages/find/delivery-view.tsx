import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { told } from '../../api/ask.ts';
import { useTold } from '../../api/use-told.ts';
import { Moment } from '../../parts/moment.tsx';
import { useTell } from '../../parts/notices.tsx';
import { Failed, Found } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Foreign, indented, TextBlock } from '../../parts/text-block.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { AttemptAxis } from './attempt-axis.tsx';
import { AttemptList } from './attempt-list.tsx';
import { DeliveryReasons } from './delivery-reasons.tsx';
import { isUnderWay, type DeliveryDetail } from './types.ts';

/** How often what is under way is looked at again. */
const LOOK_EVERY_MS = 2_000;
/** After it was sent again, its new attempt is not in the log at once. */
const LOOK_FOR_MS = 15_000;

/** All that is known of a delivery, kept current while more is to come. */
export function DeliveryView({ guid }: { guid: string }) {
  const [resentAt, setResentAt] = useState(0);
  const delivery = useTold(
    ['delivery', guid],
    ({ client }) => client.GET('/v1/deliveries/{guid}', { params: { path: { guid } } }),
    {
      refetchInterval: ({ state: { data } }) =>
        (data !== undefined && isUnderWay(data)) || Date.now() - resentAt < LOOK_FOR_MS ? LOOK_EVERY_MS : false,
    },
  );
  return (
    <Found of={delivery} what="the delivery">
      {(found) => <Told delivery={found} onResent={() => setResentAt(Date.now())} />}
    </Found>
  );
}

function Told({ delivery, onResent }: { delivery: DeliveryDetail; onResent: () => void }) {
  return (
    <article className="delivery" aria-label={`Delivery ${delivery.guid}`}>
      <div className="line">
        <Status of={delivery.waiting === undefined ? delivery.status : 'waiting'} />
        <strong>{delivery.action}</strong>
        <code>{delivery.guid}</code>
        <Moment at={delivery.at} />
        <Resend delivery={delivery} onResent={onResent} />
      </div>
      <DeliveryReasons delivery={delivery} seeAlso={<Link to="/subscriptions">subscriptions</Link>} />
      <AttemptAxis delivery={delivery} />
      <h3>Attempts</h3>
      {delivery.attempts.length === 0 ? <p>None yet.</p> : <AttemptList attempts={delivery.attempts} />}
      <Sent delivery={delivery} />
    </article>
  );
}

function Sent({ delivery: { request, curl } }: { delivery: DeliveryDetail }) {
  return (
    <>
      <h3>What was sent</h3>
      <p>
        <code>{request.method}</code>{' '}
        {request.url === null ? 'No request was made yet.' : <Foreign text={request.url} />}
      </p>
      <dl className="headers">
        {Object.entries(request.headers).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Foreign text={value} />
            </dd>
          </div>
        ))}
      </dl>
      {request.body === null ? (
        <p>The body is not kept any more.</p>
      ) : (
        <TextBlock text={indented(request.body)} label="Body that was sent" />
      )}
      {curl !== null && (
        <>
          <h3>The same for a shell</h3>
          <TextBlock text={curl} label="curl command" />
        </>
      )}
    </>
  );
}

function Resend({ delivery, onResent }: { delivery: DeliveryDetail; onResent: () => void }) {
  const session = useSignedIn();
  const queries = useQueryClient();
  const tell = useTell();
  const { guid } = delivery;
  const resend = useMutation({
    mutationFn: () => told(session.ask.client.POST('/v1/deliveries/{guid}/resend', { params: { path: { guid } } })),
    onSuccess: async ({ attempt }) => {
      tell(`Sent again, as attempt ${attempt}.`);
      onResent();
      await queries.invalidateQueries({ queryKey: ['delivery', guid] });
    },
  });
  if (!mayWrite(session)) return null;
  return (
    <>
      <button type="button" disabled={resend.isPending || isUnderWay(delivery)} onClick={() => resend.mutate()}>
        Resend
      </button>
      {resend.error !== null && <Failed error={resend.error} />}
    </>
  );
}
