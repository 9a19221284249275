import { families, type Family } from '../families.ts';
import { anchorOf } from './family-page.ts';

/** The page that leads to every action. */
export function indexPage(): string {
  return [
    '# Reference',
    '',
    'Every action of both interfaces. A client subscribes to each action by its name; [receiving.md](../receiving.md) says how callbacks come,',
    '[publishing.md](../publishing.md) how events do. For machines: [openapi.json](../openapi.json) (endpoints, and notifications as webhooks),',
    '[asyncapi.json](../asyncapi.json) (events), [schemas](../schemas/). A running API serves all three, and a page at `/docs`.',
    '',
    'A *timestamp* is UTC with the offset `+0000`: `2026-11-20T09:30:00.123+0000` in milliseconds, `2026-11-20T09:30:00.123456+0000` in',
    'microseconds. Other dates come as the platform wrote them. A member that is not always there may be absent or null. These pages are',
    'made from the catalog: `./waybell docs` writes them.',
    '',
    ...families.flatMap(familyTable),
  ].join('\n');
}

function familyTable({ name, title, actions }: Family): string[] {
  const rows = actions.map((action) => {
    const { description, receivers, feature } = action;
    const link = `[\`${action.name}\`](${name}.md#${anchorOf(action)})`;
    return `| ${link} | ${description} | ${receivers.join(', ')} | ${feature ?? ''} |`;
  });
  return [`## ${title}`, '', '| Action | Sent when | Receivers | Feature |', '|---|---|---|---|', ...rows, ''];
}
