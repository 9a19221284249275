import type { Serving } from './serve-node.ts';

/** The needed part of an event of AWS Lambda: from API Gateway in either format, a function URL, or a load balancer. */
export type LambdaEvent = {
  httpMethod?: string | undefined;
  requestContext?: object | undefined;
  headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  /** Text or base64, depending on `isBase64Encoded`. */
  body?: string | null | undefined;
};

export type LambdaAnswer = {
  statusCode: number;
  headers: Record<string, string>;
  /** Present instead of `headers` if a load balancer passes several values. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: false;
};

export function serveLambda({ receive }: Serving): (event: LambdaEvent) => Promise<LambdaAnswer> {
  return async (event) => {
    const several = event.multiValueHeaders ?? undefined;
    const { status, headers, body } = await receive({
      method: methodOf(event),
      headers: several ?? event.headers ?? {},
      body: event.body ?? '',
    });
    const answered = Object.entries(headers).map(([name, value]) => [name, [value]]);
    return {
      statusCode: status,
      headers,
      ...(several !== undefined && { multiValueHeaders: Object.fromEntries(answered) }),
      body,
      isBase64Encoded: false,
    };
  };
}

function methodOf({ httpMethod, requestContext = {} }: LambdaEvent): string {
  // Format 2.0 of API Gateway, and function URLs, have it there.
  const { http } = requestContext as { http?: { method?: string } };
  return httpMethod ?? http?.method ?? '';
}
