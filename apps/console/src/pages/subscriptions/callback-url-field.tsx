type CallbackUrlProps = { value: string; change: (url: string) => void };

export function CallbackUrlField({ value, change }: CallbackUrlProps) {
  return (
    <>
      <label htmlFor="callback-url">URL</label>
      <input
        id="callback-url"
        type="url"
        required
        maxLength={2_048}
        placeholder="https://receiver.example.com/waybell"
        value={value}
        onChange={(event) => change(event.target.value)}
      />
    </>
  );
}
