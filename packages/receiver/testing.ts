export { sendTo, signedRequest, type SignedRequest, type SignedRequestOptions } from './signed-request.ts';
