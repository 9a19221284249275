/** The step of axios that hands a request to its adapter, and the response back. axios exports it without types. */
declare module 'axios/unsafe/core/dispatchRequest.js' {
  import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';

  export default function dispatchRequest(config: InternalAxiosRequestConfig): Promise<AxiosResponse<string>>;
}
