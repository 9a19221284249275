import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAnswer } from '../../api/use-answer.ts';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { Foreign, TextBlock } from '../../parts/text-block.tsx';
import { Moment } from '../../parts/values.tsx';
import { Correction, UnknownMembers } from './correct/correction.tsx';
import { RejectedActions } from './rejected-actions.tsx';
import type { CorrectedEvent, RejectedDetail } from './types.ts';

const route = getRouteApi('/rejected/$id');

/** A rejected message: what is wrong with it, and an editor that corrects it. */
export function CorrectPage() {
  const { id } = route.useParams();
  return <OneRejected key={id} id={id} />;
}

function OneRejected({ id }: { id: string }) {
  const [published, setPublished] = useState<CorrectedEvent>();
  const rejected = useAnswer(
    ['one rejected', id],
    ({ operator }) => operator.GET('/v1/admin/rejected/{id}', { params: { path: { id } } }),
    // Each request reads all rejected messages from their queue, where others miss them meanwhile; and a message never changes.
    { staleTime: Infinity },
  );
  return (
    <Page title="Correct a rejected event" tools={<Link to="/rejected">← Rejected</Link>}>
      {published !== undefined && <Published event={published} />}
      <Found of={rejected} what="what was rejected">
        {(found) => (
          <>
            <Facts rejected={found} />
            {published === undefined && <Work key={found.id} rejected={found} onPublished={setPublished} />}
          </>
        )}
      </Found>
    </Page>
  );
}

function Published({ event }: { event: CorrectedEvent }) {
  return (
    <div className="published" role="status">
      <p>
        <strong>Published</strong> as <code>{event.routing_key}</code>: event <code>{event.event_guid}</code>.{' '}
        <Link to="/why" search={{ text: event.event_guid }}>
          Follow the event
        </Link>
        .
      </p>
      <UnknownMembers places={event.unknown_members} />
    </div>
  );
}

function Facts({ rejected }: { rejected: RejectedDetail }) {
  const { reason, detail, rejected_at, queue, exchange, routing_key, user_id, message_id, size } = rejected;
  const facts = [
    { name: 'Routing key', text: routing_key },
    { name: 'Exchange', text: exchange },
    { name: 'Rejected in', text: queue },
    { name: 'Message id', text: message_id },
    { name: 'Published by', text: user_id },
    { name: 'Size', text: `${size.toLocaleString()} bytes` },
  ];
  return (
    <section className="part" aria-label="Problem">
      <p className="why">
        <code>{reason}</code> <Foreign text={detail} />
      </p>
      <dl className="facts">
        {facts.map(({ name, text }) => (
          <div key={name} hidden={text === undefined || text === ''}>
            <dt>{name}</dt>
            <dd>
              <Foreign text={text ?? ''} />
            </dd>
          </div>
        ))}
        {rejected_at !== null && (
          <div>
            <dt>Rejected</dt>
            <dd>
              <Moment at={rejected_at} />
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}

type WorkProps = { rejected: RejectedDetail; onPublished: (event: CorrectedEvent) => void };

function Work({ rejected: { id, body, body_encoding }, onPublished }: WorkProps) {
  return (
    <section className="part" aria-label="Correction">
      {body_encoding === 'utf-8' ? (
        <Correction id={id} body={body} onPublished={onPublished} />
      ) : (
        <>
          <p>Not a text: it cannot be corrected here. Its bytes in base64:</p>
          <TextBlock text={body} label="Body in base64" />
        </>
      )}
      <h2>Without changes</h2>
      <RejectedActions selection={{ ids: [id] }} />
    </section>
  );
}
