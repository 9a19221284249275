type PageOrigins = { others?: readonly string[]; parents?: readonly string[] };

/**
 * Nothing from anywhere but here: pages work where there is no internet, and tell no server of their readers. `others`:
 * origins that a page may ask nevertheless; `parents`: those whose pages may frame it.
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
