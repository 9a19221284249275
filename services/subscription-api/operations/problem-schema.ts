import { component, guid, list, object, optional, text, whole } from './schema.ts';

/** An error in the documents. */
export const problem = component(
  'Problem',
  object(
    {
      type: text({ format: 'uri' }),
      title: text(),
      status: whole({}),
      detail: text('What is wrong with this request, for people.'),
      instance: guid('The id of the request: name it when you ask for help.'),
      errors: optional(
        list(
          object({
            pointer: optional(text('Where in the body, a JSON Pointer as a URI fragment.')),
            parameter: optional(text('Which parameter of the path or the query.')),
            detail: text(),
          }),
          'With 422: every rule that the body, or the parameters, break.',
        ),
      ),
    },
    'An error, as RFC 9457 says. Tell kinds apart by `type`; texts may change.',
  ),
);
