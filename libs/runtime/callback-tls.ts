/** The oldest version of TLS that callbacks are sent by. */
export const MIN_TLS_VERSION = 'TLSv1.2';
