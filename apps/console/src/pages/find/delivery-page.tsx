import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useId, useState, type ReactNode } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { Foreign, indented, TextBlock } from '../../parts/text-block.tsx';
import { Moment, Status } from '../../parts/values.tsx';
import { ruleInWords, WAITING } from '../../parts/words.ts';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { namesOf, TimelineLink } from '../deliveries/delivery-cells.tsx';
import type { ShownKey } from '../deliveries/listed-deliveries.ts';
import { SendingFailed } from '../subscriptions/switch-on-dialog.tsx';
import { AttemptAxis, AttemptList, CredentialsLink } from './attempts.tsx';
import { isUnderWay, standingOf, type Delivery, type DeliveryDetail } from './delivery.ts';

const route = getRouteApi('/deliveries/$guid');

const POLL_EVERY_MS = 2_000;
/** A resent delivery is polled this long: its new attempt is not in the log at once. */
const POLL_AFTER_RESEND_MS = 15_000;

export function DeliveryPage() {
  const { guid } = route.useParams();
  return (
    <Page title={`Delivery ${guid.slice(0, 8)}`}>
      <DeliveryView key={guid} guid={guid} />
    </Page>
  );
}

/** Everything about a delivery, polled until it has ended: its status, why, and what to do come first. */
export function DeliveryView({ guid }: { guid: string }) {
  const [resentAt, setResentAt] = useState(0);
  const delivery = useAnswer(
    ['delivery', guid],
    ({ client }) => client.GET('/v1/deliveries/{guid}', { params: { path: { guid } } }),
    {
      refetchInterval: ({ state: { data } }) =>
        (data !== undefined && isUnderWay(data)) || Date.now() - resentAt < POLL_AFTER_RESEND_MS
          ? POLL_EVERY_MS
          : false,
    },
  );
  return (
    <Found of={delivery} what="the delivery">
      {(found) => <DeliveryArticle delivery={found} onResent={() => setResentAt(Date.now())} />}
    </Found>
  );
}

function DeliveryArticle({ delivery, onResent }: { delivery: DeliveryDetail; onResent: () => void }) {
  const { guid, attempts } = delivery;
  const title = useId();
  const last = attempts.at(-1);
  return (
    <article className="delivery" aria-label={`Delivery ${guid}`}>
      <Header delivery={delivery} onResent={onResent} />
      <DeliveryReasons delivery={delivery} seeAlso={<Link to="/subscriptions">subscriptions</Link>} />
      {last !== undefined && <CredentialsLink attempt={last} />}
      <AttemptAxis delivery={delivery} />
      <div className="columns">
        <section aria-labelledby={title}>
          <h2 id={title}>Attempts</h2>
          {attempts.length === 0 ? <p>None yet.</p> : <AttemptList key={attempts.length} attempts={attempts} />}
        </section>
        <DeliveryRequest delivery={delivery} />
      </div>
    </article>
  );
}

function Header({ delivery, onResent }: { delivery: DeliveryDetail; onResent: () => void }) {
  const { guid, action, at, request, subscription_guid: subscription, event_guid: event, keys } = delivery;
  return (
    <header>
      <div className="line">
        <Status of={standingOf(delivery)} />
        <strong>{action}</strong>
        <Keys keys={keys} />
        <Moment at={at} />
        <Resend delivery={delivery} onResent={onResent} />
      </div>
      <p className="small">
        {request.url !== null && <Foreign text={request.url} />} <code>{guid}</code>
      </p>
      <nav className="line small" aria-label="See also">
        <Link to="/deliveries" search={{ subscription }}>
          Deliveries of this subscription
        </Link>
        {request.url !== null && (
          <Link to="/deliveries" search={{ endpoint: request.url }}>
            Deliveries to this endpoint
          </Link>
        )}
        <Link to="/timeline" search={{ key: event }}>
          Timeline of the event
        </Link>
        <Link to="/subscriptions">Subscriptions</Link>
      </nav>
    </header>
  );
}

/** The delivery's keys: each links to everything that happened to its object. */
function Keys({ keys }: { keys: readonly ShownKey[] }) {
  return namesOf(keys).map((key) => <TimelineLink key={`${key.kind} ${key.key}`} of={key} />);
}

function Resend({ delivery, onResent }: { delivery: DeliveryDetail; onResent: () => void }) {
  const session = useSignedIn();
  const queries = useQueryClient();
  const notify = useNotify();
  const { guid, action } = delivery;
  const resend = useMutation({
    mutationFn: () => answerOf(session.api.client.POST('/v1/deliveries/{guid}/resend', { params: { path: { guid } } })),
    onSuccess: async ({ attempt, held }) => {
      notify(
        held === undefined
          ? `Sent again, as attempt ${attempt}.`
          : `Waits to be sent again, as attempt ${attempt}: the subscription is ${held}.`,
      );
      onResent();
      await queries.invalidateQueries({ queryKey: ['delivery', guid] });
    },
  });
  if (!mayWrite(session)) return null;
  return (
    <>
      <button
        type="button"
        className={delivery.status === 'delivered' ? '' : 'main'}
        disabled={resend.isPending || isUnderWay(delivery)}
        onClick={() => resend.mutate()}
      >
        Resend
      </button>
      {resend.error !== null && <SendingFailed error={resend.error} action={action} forget={resend.reset} />}
    </>
  );
}

type Reasons = Pick<Delivery, 'status' | 'meaning' | 'remedy' | 'reason' | 'waiting' | 'deactivation'>;

/** Why a delivery has its status, what helps, and what it did to its subscription. */
export function DeliveryReasons({ delivery, seeAlso }: { delivery: Reasons; seeAlso: ReactNode }) {
  const { status, meaning, remedy, reason, waiting, deactivation } = delivery;
  if (reason === undefined && waiting === undefined && deactivation === undefined) return null;
  return (
    <div className={`reasons ${status}`}>
      {reason !== undefined && (
        <p>
          <strong>{meaning}</strong> <code>{reason}</code>
        </p>
      )}
      {remedy !== undefined && <p>{remedy}</p>}
      {waiting !== undefined && (
        <p>
          Waiting since <Moment at={waiting.since} />: {WAITING[waiting.why][0]}
        </p>
      )}
      {deactivation !== undefined && (
        <p>
          This delivery switched the subscription off at <Moment at={deactivation.at} />:{' '}
          {ruleInWords(deactivation.rule)}. See {seeAlso}.
        </p>
      )}
    </div>
  );
}

/** The request that was sent, and a command that sends the same. */
function DeliveryRequest({ delivery: { request, curl } }: { delivery: DeliveryDetail }) {
  const title = useId();
  const { method, url, headers, body } = request;
  const names = Object.entries(headers);
  return (
    <section aria-labelledby={title}>
      <h2 id={title}>Request</h2>
      <p>
        <code>{method}</code> {url === null ? 'No request was made yet.' : <Foreign text={url} />}
      </p>
      {body === null ? <p>The body is not kept any more.</p> : <TextBlock text={indented(body)} label="Request body" />}
      {names.length > 0 && (
        <Disclosure summary={`Headers (${names.length})`} startsOpen>
          {() => (
            <dl className="headers">
              {names.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    <Foreign text={value} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </Disclosure>
      )}
      {curl !== null && (
        <>
          <h3>cURL</h3>
          <TextBlock text={curl} label="cURL command" />
        </>
      )}
    </section>
  );
}
