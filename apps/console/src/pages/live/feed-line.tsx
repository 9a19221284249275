import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { writtenDuration } from '../../parts/time.ts';
import { Status } from '../../parts/status.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { useSignedIn } from '../../session/session.ts';
import { KeyNames } from '../deliveries/keys.tsx';
import type { FeedItem } from './feed-item.ts';

const COLUMNS = ['Time', 'Action', 'Key', 'Status', 'HTTP', 'Duration', 'Attempt'];

/** The headings of the columns. */
export function FeedColumns() {
  return (
    <div className="feed-columns" aria-hidden="true">
      {COLUMNS.map((name) => (
        <span key={name}>{name}</span>
      ))}
    </div>
  );
}

/** Something that happened, in columns; all of the line leads to what it is of. */
export function FeedLine({ item }: { item: FeedItem }) {
  const { at, action, keys, result, notice, reason, httpStatus, durationMs, attempt } = item;
  return (
    <div className="feed-line" data-guid={item.deliveryGuid ?? item.eventGuid}>
      <About item={item}>
        <Moment at={at} />
      </About>
      <span>
        <Foreign text={action} />
      </span>
      <span>{notice === undefined ? <KeyNames keys={keys} /> : <code>{notice}</code>}</span>
      <span>
        <Status of={result} />
      </span>
      <span className="number">
        <code title={reason}>{httpStatus ?? reason ?? '–'}</code>
      </span>
      <span className="number quietly">{durationMs === undefined ? '–' : writtenDuration(durationMs)}</span>
      <span className="number attempt">{attempt ?? '–'}</span>
    </div>
  );
}

/** Links to the subject of an item. */
function About({ item: { deliveryGuid, eventGuid, notice }, children }: { item: FeedItem; children: ReactNode }) {
  const { ask } = useSignedIn();
  if (deliveryGuid !== undefined) {
    return (
      <Link className="row-link" to="/deliveries/$guid" params={{ guid: deliveryGuid }}>
        {children}
      </Link>
    );
  }
  if (notice === 'certificate.ending' && ask.actingFor === undefined) {
    return (
      <Link className="row-link" to="/credentials">
        {children}
      </Link>
    );
  }
  if (eventGuid === undefined) {
    return (
      <Link className="row-link" to="/subscriptions">
        {children}
      </Link>
    );
  }
  return (
    <Link className="row-link" to="/timeline" search={{ key: eventGuid }}>
      {children}
    </Link>
  );
}
