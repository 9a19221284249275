import type { Action } from '@waybell/catalog/action';
import { actionKey } from '@waybell/catalog/actions';
import { notificationSchema, revisionNotificationSchema } from '@waybell/catalog/schemas';
import type { Family } from '../families.ts';
import type { SentExamples } from '../sent-examples.ts';
import { membersTable } from './members-table.ts';

/** A page about the actions of one family. */
export function familyPage({ title, actions }: Family, sentExamples: SentExamples): string {
  return [
    `# ${title}`,
    '',
    'Examples are exactly what is sent. This page is made from the catalog: `./waybell docs` writes it. All actions: [README.md](README.md).',
    '',
    ...actions.flatMap((action) => actionChapter(action, sentExamples)),
  ].join('\n');
}

/** The anchor of an action on its page. */
export function anchorOf({ name }: Action): string {
  return name.replaceAll('.', '');
}

function actionChapter(action: Action, sentExamples: SentExamples): string[] {
  const bodyOf = (form: string) => sentExamples[actionKey(action)]?.find((sent) => sent.form === form)?.body ?? '';
  const revision = revisionNotificationSchema(action);
  return [
    `## ${action.name}`,
    '',
    ...facts(action),
    '',
    ...(revision === null ? [] : ['Plain form, subscribed without `audit_field_set`:', '']),
    ...membersTable(notificationSchema(action)),
    '',
    ...jsonBlock(bodyOf('plain')),
    ...(revision === null ? [] : revisionForm(action, { table: membersTable(revision), body: bodyOf('revision') })),
  ];
}

function facts({ description, receivers, feature, deprecated, payload, ...action }: Action): string[] {
  const links = payload.kind === 'listed' ? (payload.links ?? []) : [];
  return [
    `- **Sent when** ${description}.`,
    `- **Received by** ${receivers.join(' and ')}.`,
    `- **Needs** ${feature === undefined ? 'no feature' : `the account feature \`${feature}\``}.`,
    ...(deprecated === undefined ? [] : [`- **Deprecated** since ${deprecated.since}, until ${deprecated.sunset}.`]),
    ...(links.length === 0 ? [] : [`- **Only when** all of ${links.map(code).join(', ')} are available.`]),
    ...(payload.kind === 'open' ? ['- **Also** whatever else the event carries, as it came.'] : []),
    ...(action.ignorable === true
      ? [`- **Ignored** updates are announced as \`${action.name}.ignored\` instead, an action of its own.`]
      : []),
    `- **Schemas** [event](../schemas/${actionKey(action)}.event.json), [notification](../schemas/${actionKey(action)}.notification.json).`,
  ];
}

function revisionForm({ auditFields = [], payload }: Action, form: { table: string[]; body: string }): string[] {
  const isModified = payload.kind === 'revision' && payload.revision.change === 'modified';
  const rule = isModified
    ? 'Sent only when at least one of the fields subscribed to changed.'
    : 'Sent even when `audit_field_set` is empty.';
  return [
    `Revision form, subscribed with \`audit_field_set\`, here with all of its fields. ${rule}`,
    '',
    ...form.table,
    '',
    ...jsonBlock(form.body),
    `\`audit_field_set\` may hold: ${auditFields.map(code).join(', ')}.${spellings(auditFields)}`,
    '',
  ];
}

/** A field that goes by two names. */
function spellings(fields: readonly string[]): string {
  const known = fields.filter((field) => field.endsWith('.schedule_at_by_carrier'));
  return known.length === 0
    ? ''
    : ` \`schedule_at_by_carrier\` may be written \`scheduled_at_by_carrier\`, as in \`data\`.`;
}

function jsonBlock(body: string): string[] {
  return ['```json', body, '```', ''];
}

const code = (text: string) => `\`${text}\``;
