import { useId } from 'react';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Foreign, indented, TextBlock } from '../../parts/text-block.tsx';
import type { DeliveryDetail } from './types.ts';

/** The request that was sent, and a command that sends the same. */
export function DeliveryRequest({ delivery: { request, curl } }: { delivery: DeliveryDetail }) {
  const title = useId();
  const { method, url, headers, body } = request;
  const names = Object.entries(headers);
  return (
    <section aria-labelledby={title}>
      <h2 id={title}>Request</h2>
      <p>
        <code>{method}</code> {url === null ? 'No request was made yet.' : <Foreign text={url} />}
      </p>
      {body === null ? <p>The body is not kept any more.</p> : <TextBlock text={indented(body)} label="Request body" />}
      {names.length > 0 && (
        <Disclosure summary={`Headers (${names.length})`} startsOpen>
          {() => (
            <dl className="headers">
              {names.map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>
                    <Foreign text={value} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </Disclosure>
      )}
      {curl !== null && (
        <>
          <h3>cURL</h3>
          <TextBlock text={curl} label="cURL command" />
        </>
      )}
    </section>
  );
}
