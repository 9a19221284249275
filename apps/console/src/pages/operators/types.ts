import type { components } from '../../api/operator-api.d.ts';

type OperatorSchemas = components['schemas'];

export type AccessToken = OperatorSchemas['AccessToken'];
export type Account = OperatorSchemas['Account'];
export type AccountClient = OperatorSchemas['AccountClient'];
export type AccountClosing = OperatorSchemas['AccountClosing'];
export type AccountName = OperatorSchemas['AccountName'];
export type Candidate = OperatorSchemas['Candidate'];
export type Change = OperatorSchemas['Change'];
export type CorrectedEvent = OperatorSchemas['CorrectedEvent'];
export type Failing = OperatorSchemas['Failing'];
export type Feature = OperatorSchemas['Feature'];
export type GoingOn = OperatorSchemas['GoingOn'];
export type HeldDeactivation = OperatorSchemas['HeldDeactivation'];
export type OperatorDelivery = OperatorSchemas['OperatorDelivery'];
export type OperatorEvent = OperatorSchemas['OperatorEvent'];
export type OperatorSubscription = OperatorSchemas['OperatorSubscription'];
export type OperatorVerdict = OperatorSchemas['OperatorVerdict'];
export type Overview = OperatorSchemas['Overview'];
export type Purged = OperatorSchemas['Purged'];
export type Queue = OperatorSchemas['Queue'];
export type Rejected = OperatorSchemas['Rejected'];
export type RejectedDetail = OperatorSchemas['RejectedDetail'];
export type Retried = OperatorSchemas['Retried'];
export type RunningService = OperatorSchemas['RunningService'];
export type Scope = OperatorSchemas['Scopes'][number];
export type Stops = OperatorSchemas['Stops'];
export type SwitchedOff = OperatorSchemas['SwitchedOff'];
export type WaitingDestination = OperatorSchemas['WaitingDestination'];
export type WaitingEndpoint = OperatorSchemas['WaitingEndpoint'];
export type WhyAnswer = OperatorSchemas['Told'];

/** A selection of rejected messages. */
export type RejectedSelection = { ids: string[] } | { reason: string } | { about: string } | { all: true };

export const FEATURES: readonly Feature[] = ['insurance', 'servicepay'];
