import type { Schema } from './catalog.ts';

type Field = { path: string; type: string; isAlways: boolean; description: string };

/** The fields of a form of a notification, those within others too. */
export function FieldTable({ form }: { form: Schema }) {
  return (
    <>
      {form.title !== undefined && <h3>{form.title}</h3>}
      <div className="table-frame" tabIndex={0} role="region" aria-label={form.title ?? 'Fields'}>
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Type</th>
              <th scope="col">Required</th>
              <th scope="col">Description</th>
            </tr>
          </thead>
          <tbody>
            {fieldsOf(form).map(({ path, type, isAlways, description }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                <td>{type}</td>
                <td>{isAlways ? 'yes' : 'no'}</td>
                <td>{description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function fieldsOf({ properties = {}, required = [] }: Schema, before = ''): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${before}${name}`;
    const own = {
      path,
      type: typeOf(schema),
      isAlways: required.includes(name),
      description: schema.description ?? '',
    };
    const within = schema.items === undefined ? fieldsOf(schema, `${path}.`) : fieldsOf(schema.items, `${path}[].`);
    return [own, ...within];
  });
}

function typeOf({ type, format, const: constant, enum: choices, items }: Schema): string {
  if (constant !== undefined) return JSON.stringify(constant);
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(' or ');
  const named = type === undefined ? 'anything' : [type].flat().join(' or ');
  if (items !== undefined) return `${named} of ${typeOf(items)}`;
  return format === undefined ? named : `${named} (${format})`;
}
