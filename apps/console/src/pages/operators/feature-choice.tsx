import { FEATURES, type Feature } from './types.ts';

type FeatureChoiceProps = { chosen: readonly Feature[]; choose: (features: readonly Feature[]) => void };

/** The features of an account. */
export function FeatureChoice({ chosen, choose }: FeatureChoiceProps) {
  return (
    <fieldset>
      <legend>Features</legend>
      {FEATURES.map((feature) => (
        <label key={feature} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(feature)}
            onChange={({ target }) =>
              choose(target.checked ? [...chosen, feature] : chosen.filter((each) => each !== feature))
            }
          />
          {feature}
        </label>
      ))}
    </fieldset>
  );
}
