import { Link, useNavigate } from '@tanstack/react-router';
import { useId, useRef, type ReactNode } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Failed } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Guid, Moment, Status } from '../../parts/values.tsx';
import { HEALTH, ruleInWords, WAITING } from '../../parts/words.ts';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { HealthBars, HealthLink, KindMark, KINDS, sumOf } from './health.tsx';
import { useOpenDialog } from './subscription-dialogs.tsx';
import { useSubscriptionChange, type Subscription } from './subscriptions.ts';
import { MOST_UNFINISHED, type ListedSubscription } from './use-subscription-rows.ts';

const READ: readonly TableColumn<ListedSubscription>[] = [
  {
    header: 'Action',
    value: ({ subscription }) => subscription.action,
    cell: ({ subscription: { action, guid } }) => (
      <>
        {action} <Guid guid={guid} />
      </>
    ),
  },
  { header: 'Status', cell: (row) => <RowStatus row={row} /> },
  {
    header: 'URL',
    value: ({ subscription }) => subscription.callback_url,
    cell: ({ subscription }) => <Foreign text={subscription.callback_url} />,
  },
  { header: 'Last 24 hours', cell: (row) => <RowHealth row={row} /> },
];

const WRITE = [...READ, { header: 'Manage', cell: (row: ListedSubscription) => <RowTools row={row} /> }];

/** Subscriptions, one a row, in the given order. Must be within `SubscriptionDialogs`. */
export function SubscriptionTable({ label, rows }: { label: string; rows: readonly ListedSubscription[] }) {
  const session = useSignedIn();
  return (
    <div className="subscriptions">
      <DataTable
        label={label}
        rows={rows}
        columns={mayWrite(session) ? WRITE : READ}
        keyOf={({ subscription }) => subscription.guid}
      />
    </div>
  );
}

/** The condition of a subscription, and its cause. */
function RowStatus({ row }: { row: ListedSubscription }) {
  return (
    <div className="row-status">
      <Status of={row.condition === 'missed' ? 'active' : row.condition} />
      <Why row={row} />
    </div>
  );
}

function Why({ row: { subscription, condition, retrying, waiting } }: { row: ListedSubscription }) {
  const { guid, stopped, deactivation, missed, suspension, paused_until: pausedUntil } = subscription;
  switch (condition) {
    case 'stopped':
      return (
        stopped && (
          <Small>
            by the operator since <Moment at={stopped.at} />: <Foreign text={stopped.reason} />
          </Small>
        )
      );
    case 'switched off':
      return (
        deactivation && (
          <Small>
            <Moment at={deactivation.at} />: {ruleInWords(deactivation.rule)}
          </Small>
        )
      );
    case 'missed':
      return (
        missed && (
          <Small>
            {missed.count !== undefined && `${missed.count.toLocaleString()} `}missed from <Moment at={missed.since} />{' '}
            to <Moment at={missed.until} />
          </Small>
        )
      );
    case 'suspended':
      return suspension && <Small>the account does not have the feature {suspension.feature}</Small>;
    case 'paused':
      return (
        pausedUntil !== undefined && (
          <Small>
            until <Moment at={pausedUntil} />: deliveries wait
          </Small>
        )
      );
    case 'waiting':
    case 'retrying':
      return (
        <>
          {waiting.length > 0 && <Waiting waiting={waiting} subscription={guid} />}
          {retrying.length > 0 && <Retrying retrying={retrying} subscription={guid} />}
        </>
      );
    case 'not known yet':
    case 'active':
      return null;
  }
}

type RetryingProps = { retrying: ListedSubscription['retrying']; subscription?: string };

/** How many deliveries are retried, of a subscription or of all, and why the newest attempt failed. */
export function Retrying({ retrying, subscription }: RetryingProps) {
  return (
    <Small>
      <Link to="/deliveries" search={{ status: 'retrying', ...(subscription !== undefined && { subscription }) }}>
        {atLeast(retrying)} retrying
      </Link>
      : {failureOf(retrying)}
    </Small>
  );
}

type WaitingProps = { waiting: ListedSubscription['waiting']; subscription?: string };

/** How many deliveries wait, of a subscription or of all, since when and why. */
export function Waiting({ waiting, subscription }: WaitingProps) {
  const [newest, oldest] = [waiting[0], waiting.at(-1)];
  return (
    <Small>
      <Link to="/deliveries" search={{ status: 'waiting', ...(subscription !== undefined && { subscription }) }}>
        {atLeast(waiting)} waiting
      </Link>{' '}
      since {oldest !== undefined && <Moment at={oldest.at} />}
      {waiting.length === MOST_UNFINISHED && ' or longer'}
      {newest?.waiting !== undefined && subscription !== undefined && <>: {WAITING[newest.waiting.why][0]}</>}
    </Small>
  );
}

const atLeast = ({ length }: readonly unknown[]): string =>
  length === MOST_UNFINISHED ? `${MOST_UNFINISHED} or more` : length.toLocaleString();

function failureOf(retrying: ListedSubscription['retrying']): string {
  const { http_status: status, meaning = '' } = retrying[0]?.attempts.at(-1) ?? {};
  return status === undefined ? meaning : `HTTP ${status}`;
}

const Small = ({ children }: { children: ReactNode }) => <span className="small">{children}</span>;

/** The last 24 hours of a subscription: bars, and each count that is not zero. */
function RowHealth({ row: { subscription, buckets } }: { row: ListedSubscription }) {
  const first = buckets?.[0];
  const counts = KINDS.map((kind) => ({ kind, sum: sumOf(buckets ?? [], kind) })).filter(({ sum }) => sum > 0);
  if (buckets === undefined || first === undefined || counts.length === 0) return <span className="quietly">–</span>;
  return (
    <div className="row-health">
      <HealthBars buckets={buckets} />
      <span className="counts">
        {counts.map(({ kind, sum }) => (
          <HealthLink key={kind} kind={kind} since={first.at} action={subscription.action}>
            <KindMark kind={kind} /> {sum.toLocaleString()} {HEALTH[kind]}
          </HealthLink>
        ))}
      </span>
    </div>
  );
}

/** The action that repairs the subscription as a button, and a menu with all others. */
function RowTools({ row: { subscription, condition } }: { row: ListedSubscription }) {
  const open = useOpenDialog();
  const navigate = useNavigate();
  const { guid, action, is_active: isActive, paused_until: pausedUntil, stopped } = subscription;
  const item = (name: string, dialog: Parameters<typeof open>[0], isDangerous = false): MenuItem => ({
    name,
    onChoose: () => open(dialog, [subscription]),
    isDangerous,
  });
  const items = [
    ...(stopped === undefined ? [item('Send a test', 'test')] : []),
    item('Replay', 'replay'),
    ...(isActive && pausedUntil === undefined ? [item('Pause', 'pause')] : []),
    item('Edit', 'edit'),
    item('Verification token', 'token'),
    { name: 'Deliveries', onChoose: () => void navigate({ to: '/deliveries', search: { subscription: guid } }) },
    item('Unsubscribe', 'end', true),
  ];
  return (
    <div className="row-tools">
      {condition === 'switched off' && (
        <button type="button" onClick={() => open('switch on', [subscription])}>
          Switch on
        </button>
      )}
      {condition === 'missed' && (
        <button type="button" onClick={() => open('replay', [subscription])}>
          Replay missed
        </button>
      )}
      {condition === 'paused' && <ResumeButton subscription={subscription} />}
      <Menu label={`Actions for ${action}`} items={items} />
    </div>
  );
}

/** Ends a pause: waiting deliveries are sent. */
function ResumeButton({ subscription: { guid, action } }: { subscription: Subscription }) {
  const { api } = useSignedIn();
  const notify = useNotify();
  const resume = useSubscriptionChange(
    () => answerOf(api.client.POST('/v1/subscriptions/{guid}/resume', { params: { path: { guid } }, body: {} })),
    () => notify(`${action} resumed. Waiting deliveries are being sent.`),
  );
  return (
    <>
      <button type="button" disabled={resume.isPending} onClick={() => resume.mutate()}>
        Resume
      </button>
      {resume.error !== null && <Failed error={resume.error} />}
    </>
  );
}

type MenuItem = { name: string; onChoose: () => void; isDangerous?: boolean };

/** A menu; `label`: its name for screen readers. The browser's own popover closes it on Escape, or on a click outside. */
function Menu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  return (
    <div className="menu">
      <button type="button" className="quiet" popoverTarget={id} aria-label={label}>
        ⋯
      </button>
      <ul id={id} popover="auto" ref={list}>
        {items.map(({ name, onChoose, isDangerous = false }) => (
          <li key={name}>
            <button
              type="button"
              className={isDangerous ? 'bad' : ''}
              onClick={() => {
                list.current?.hidePopover();
                onChoose();
              }}
            >
              {name}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
