/** Where a node stands: a city from the list, or what it is called and its degrees. */
import { Input, Select } from 'antd';
import { fleetLimits } from '#contract/limits.ts';
import { countryNames } from '../kit/world-parts.ts';
import { NumberInput } from '../kit/number-input.tsx';
import { language, languageTag, t } from '../kit/text.ts';
import { cities } from './cities.ts';

export interface Place {
  name: string;
  latitude: number | string;
  longitude: number | string;
}
interface Props {
  id?: string | undefined;
  value: unknown;
  onChange: (value: Place | null) => void;
}

const countryOf = countryNames(languageTag);
const options = cities
  .map((city, index) => ({
    value: index,
    label: `${city.name[language]} · ${countryOf(city.country)}`,
    search: [...Object.values(city.name), countryOf(city.country), city.country].join(' ').toLowerCase(),
  }))
  .sort((a, b) => a.label.localeCompare(b.label, languageTag));

/** What was typed and is no number stays as it is, and the schema says so. */
const typed = (value: unknown) => (typeof value === 'number' || typeof value === 'string' ? value : '');
const isPlace = (value: unknown): value is Place => typeof value === 'object' && value !== null && 'latitude' in value;
const isAt = (place: Place, city: (typeof cities)[number]) =>
  city.latitude === place.latitude && city.longitude === place.longitude;

export function PlaceInput({ id, value: given, onChange }: Props) {
  const value = isPlace(given) ? given : null;
  const at = value ? cities.findIndex(city => isAt(value, city)) : -1;
  const set = (part: Partial<Place>) => onChange({ name: '', latitude: '', longitude: '', ...value, ...part });
  return (
    <div className="place-input">
      <Select
        {...(id ? { id } : {})}
        aria-label={t('fleet.city')}
        placeholder={t('fleet.cityHint')}
        showSearch={{ filterOption: (typed, option) => !!option?.search.includes(typed.trim().toLowerCase()) }}
        allowClear
        value={at < 0 ? undefined : at}
        options={options}
        onChange={(index: number | undefined) => {
          const city = index === undefined ? undefined : cities[index];
          onChange(city ? { name: city.name[language], latitude: city.latitude, longitude: city.longitude } : null);
        }}
      />
      <div className="place-degrees">
        <label>
          <span>{t('fleet.placeName')}</span>
          <Input
            maxLength={fleetLimits.placeNameMax}
            value={value?.name ?? ''}
            onChange={event => set({ name: event.target.value })}
          />
        </label>
        <label>
          <span>{t('fleet.latitude')}</span>
          <NumberInput value={value?.latitude} onChange={next => set({ latitude: typed(next) })} />
        </label>
        <label>
          <span>{t('fleet.longitude')}</span>
          <NumberInput value={value?.longitude} onChange={next => set({ longitude: typed(next) })} />
        </label>
      </div>
    </div>
  );
}
