type PageOrigins = { others?: readonly string[]; parents?: readonly string[] };

/**
 * Allows nothing from other origins: pages work without internet, and reveal no reader to another server. `others`: origins that
 * a page may call nevertheless; `parents`: those whose pages may frame it.
 */
export function pagePolicy({ others = [], parents = [] }: PageOrigins = {}): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...others].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${parents.length === 0 ? "'none'" : parents.join(' ')}`,
  ].join('; ');
}
