import { randomBytes } from 'node:crypto';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import type { Secret } from './secret-forms.ts';

/** A value that nothing else can have made. */
export const marked = (): string => `marked-${randomBytes(12).toString('hex')}`;

/** The secrets there are; more are planted as they are made. */
export class Planted {
  readonly secrets: Secret[] = [];

  /** Plants a new one and returns it. */
  plant(name: string): string {
    return this.add(name, marked());
  }

  add(name: string, text: string): string {
    this.addBytes(name, Buffer.from(text));
    return text;
  }

  addBytes(name: string, bytes: Buffer): void {
    if (bytes.length === 0) throw new Error(`nothing is planted as ${name}`);
    if (this.secrets.some((known) => known.bytes.equals(bytes))) return;
    this.secrets.push({ name, bytes });
  }
}

/** Plants the operator's secrets: the keys, and the password in each address. */
export function plantSettings(planted: Planted, services: readonly SupervisedProcess[]): void {
  const given = services.flatMap(({ spec }) => Object.entries(spec.env));
  const passwords = given.map(([name, value]) => [name, URL.parse(value ?? '')?.password ?? ''] as const);
  for (const [name, password] of passwords) if (password !== '') planted.add(`password of ${name}`, password);
  // Most services have none.
  const keys = given.flatMap(([name, value]) => (name === 'SECRET_KEYS' && value ? value.split(',') : []));
  for (const key of new Set(keys)) planted.addBytes('encryption key', Buffer.from(key.split(':')[1] ?? '', 'base64'));
}
