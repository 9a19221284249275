import { useRef, useState, type ChangeEvent } from 'react';
import { PemField } from './pem-field.tsx';
import { readPem } from './read-pem.ts';

/** A certificate's chain and its key, pasted or out of files. */
export function CertificateFields() {
  const chain = useRef<HTMLTextAreaElement>(null);
  const key = useRef<HTMLTextAreaElement>(null);
  const [said, setSaid] = useState('');
  const read = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const found = await readPem([...(target.files ?? [])]);
    target.value = '';
    if (found.chain !== '' && chain.current !== null) chain.current.value = found.chain;
    if (found.key !== '' && key.current !== null) key.current.value = found.key;
    const names = [found.chain !== '' && 'certificates', found.key !== '' && 'a key'].filter(Boolean);
    setSaid(names.length > 0 ? `Found ${names.join(' and ')}.` : NOTHING);
  };
  return (
    <>
      <label>
        PEM files (certificates, key or both)
        <input type="file" multiple accept=".pem,.crt,.cer,.key" onChange={(event) => void read(event)} />
      </label>
      <p className="small" role="status">
        {said}
      </p>
      <PemField field={chain} at="#/certificate/chain" label="Certificate chain (leaf first)" />
      <PemField field={key} at="#/certificate/key" label="Private key (no passphrase)" isHidden />
    </>
  );
}

const NOTHING = 'No PEM found. Convert a PKCS#12 file with: openssl pkcs12 -in client.p12 -nodes -out client.pem';
