/** Notices for the platform about its clients: rows of `waybell.notices`, as they are published. */
export const noticeKinds = [
  'subscription.switched_off',
  'subscription.switched_on',
  'subscription.ended',
  'subscription.held',
  'delivery.exhausted',
  'endpoint.waiting',
  'certificate.ending',
] as const;

export type NoticeKind = (typeof noticeKinds)[number];

/** The routing key of a notice. */
export const noticeKey = (kind: NoticeKind): string => `operations.${kind}`;

/** Times are ISO 8601; null where a member is not known or has no meaning for the kind. */
export type OperationsNotice = {
  guid: string;
  kind: NoticeKind;
  at: string;
  interface: 'shipper' | 'carrier';
  account_guid: string;
  account_name: string | null;
  client_id: string;
  /** Null with `subscription_guid` where several subscriptions wait for one endpoint, and of a certificate. */
  action: string | null;
  subscription_guid: string | null;
  /** Without its query, which may hold secrets. */
  callback_url: string | null;
  /** The rule that switched it off, `held_back`, `gone`, why the last delivery failed, why most wait. */
  reason: string | null;
  since: string | null;
  delivery_guid: string | null;
  /** The receiver's last status. */
  status: number | null;
  /** Deliveries that failed or wait. */
  count: number | null;
  missed: { since: string; until: string | null; count: number | null } | null;
  /** And port, that a certificate is for, and when it ends. */
  host: string | null;
  ends_at: string | null;
};

const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A notice as JSON, from a row of `waybell.notices`. */
export const noticeAsJson = `json_build_object('guid', guid, 'kind', kind, 'at', ${iso('at')}, 'interface', interface,
  'account_guid', account, 'account_name', account_name, 'client_id', client, 'action', action, 'subscription_guid', subscription,
  'callback_url', callback_url, 'reason', reason, 'since', ${iso('since')}, 'delivery_guid', delivery, 'status', status,
  'count', count, 'missed', case when missed_since is not null then json_build_object('since', ${iso('missed_since')},
    'until', ${iso('missed_until')}, 'count', missed_count) end, 'host', host, 'ends_at', ${iso('ends_at')})`;
