import type { Action, Party } from '@waybell/catalog/action';
import { actionKey } from '@waybell/catalog/actions';

const guid = 'e7a1c3d5-2b4f-4a60-8c71-0d2e4f608192';
const occurredAt = '2026-11-20T09:30:00.123456Z';
const accounts: Record<Party, string> = {
  shipper: '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51',
  broker: '70c8d9ea-1b2c-4d3e-8f40-516273849506',
  carrier: '81d9eafb-2c3d-4e4f-9051-627384950617',
};

/** The subscription that the examples of notifications are sent to. */
export const exampleSubscriptionGuid = '92eafb0c-3d4e-4f50-8162-738495061728';

/** An event of this action as upstream might publish it. */
export function exampleEvent(action: Action) {
  return {
    guid,
    interface: action.interface,
    action: action.name,
    occurred_at: occurredAt,
    parties: Object.fromEntries(action.receivers.map((party) => [party, accounts[party]])),
    payload: action.example,
  };
}

/** The same event as a CloudEvent 1.0 in structured JSON. */
export function exampleCloudEvent(action: Action) {
  const { occurred_at: time, parties, payload } = exampleEvent(action);
  return {
    specversion: '1.0',
    id: guid,
    source: 'https://platform.example.com/events',
    type: actionKey(action),
    time,
    datacontenttype: 'application/json',
    data: { parties, payload },
  };
}
