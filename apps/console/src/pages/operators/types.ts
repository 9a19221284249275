import type { components } from '../../api/operator-api.d.ts';

type Schemas = components['schemas'];

export type AccessToken = Schemas['AccessToken'];
export type Account = Schemas['Account'];
export type AccountName = Schemas['AccountName'];
export type Candidate = Schemas['Candidate'];
export type Change = Schemas['Change'];
export type CorrectedEvent = Schemas['CorrectedEvent'];
export type Failing = Schemas['Failing'];
export type Feature = Schemas['Feature'];
export type Kept = Schemas['Kept'];
export type OperatorDelivery = Schemas['OperatorDelivery'];
export type OperatorEvent = Schemas['OperatorEvent'];
export type OperatorSubscription = Schemas['OperatorSubscription'];
export type OperatorVerdict = Schemas['OperatorVerdict'];
export type ParkedEndpoint = Schemas['ParkedEndpoint'];
export type Purged = Schemas['Purged'];
export type Queue = Schemas['Queue'];
export type Rejected = Schemas['Rejected'];
export type RejectedDetail = Schemas['RejectedDetail'];
export type Retried = Schemas['Retried'];
export type Scope = Schemas['Scopes'][number];
export type SwitchedOff = Schemas['SwitchedOff'];
export type HeldDeactivation = Schemas['HeldDeactivation'];
export type Told = Schemas['Told'];

/** Which rejected messages are meant. */
export type RejectedSelection = { ids: string[] } | { reason: string } | { about: string } | { all: true };

export const FEATURES: readonly Feature[] = ['insurance', 'servicepay'];
