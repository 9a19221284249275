import { AxiosHeaders, type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import dispatchRequest from 'axios/unsafe/core/dispatchRequest.js';

/** Copying and checking no headers would take an eighth of what axios allocates. */
class NoHeaders extends AxiosHeaders {
  override normalize(): this {
    return this;
  }
}

/** The headers of all requests and responses as far as axios knows: the adapter has some, and notes some in the trace. */
export const NO_HEADERS = new NoHeaders();

/**
 * Makes a request by axios, as from the end of its `request()`: merging the configuration with defaults and running
 * interceptors, which are none here, would allocate twice as much as all the rest. The adapter has the body, which nothing
 * transforms.
 */
export function dispatchByAxios(adapter: AxiosAdapter): Promise<AxiosResponse<string>> {
  const config: InternalAxiosRequestConfig = { headers: NO_HEADERS, adapter };
  // axios uses a configuration without a prototype unchanged after reading each member, and copies any other. One made without a
  // prototype would be a hash table.
  return dispatchRequest(Object.setPrototypeOf(config, null));
}
