/** Each address of a setting that may name several, separated by commas. A password may hold a comma as well. */
export function addressesIn(text: string): string[] {
  return text.split(/,(?=\s*[a-z]+:\/\/)/i).map((address) => address.trim());
}
