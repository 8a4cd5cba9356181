/** Our sign: two waves, calm behind the wall. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="7" fill="#3fb3b3" />
      <path
        d="M7 19.5c2.2-5.6 5.2-8.4 9-8.4s6.8 2.8 9 8.4"
        fill="none"
        stroke="#06201f"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
      <path
        d="M11.8 21.5c1-2.700 2.400-4 4.200-4s3.200 1.300 4.200 4"
        fill="none"
        stroke="#06201f"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}

/** A logo says the name itself; without one our sign, or that of the operator, stands before it. */
export const Named = ({ title, logo, sign = '', size = 28 }: { title: string; logo: string; sign?: string; size?: number }) =>
  logo ? (
    <img className="brand-logo" src={logo} alt={title} />
  ) : (
    <>
      {sign ? <img className="brand-sign" src={sign} width={size} height={size} alt="" /> : <Mark size={size} />}
      {title}
    </>
  );

const width = 800;
const height = 900;
const wall = 470;

/** Waves come in from the left and are calm behind the breakwater. */
function wave(line: number): string {
  const y0 = 70 + line * 40;
  const points: string[] = [];
  for (let x = -20; x <= width + 20; x += 10) {
    const open = 1 / (1 + Math.exp((x - wall) / 26));
    const y =
      y0 +
      Math.sin(x / (46 + line) + line * 1.7) * (15 + 5 * Math.sin(line * 2.3)) * open +
      Math.sin(x / 90 + line) * 2 * (1 - open);
    points.push(`${x},${y.toFixed(1)}`);
  }
  return `M${points.join('L')}`;
}
const waves = Array.from({ length: 20 }, (_, line) => wave(line));

export function Sea() {
  return (
    <svg className="sea" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="xMidYMid slice" aria-hidden>
      {waves.map((path, line) => (
        <path key={path} d={path} fill="none" stroke="#3fb3b3" strokeWidth="1" opacity={0.14 + 0.22 * Math.abs(Math.sin(line))} />
      ))}
      {Array.from({ length: 21 }, (_, step) => (
        <circle
          key={step}
          cx={wall + 4 * Math.sin(step)}
          cy={50 + step * 40}
          r={step % 3 ? 2.5 : 4}
          fill="#3fb3b3"
          opacity={step % 3 ? 0.5 : 0.9}
        />
      ))}
    </svg>
  );
}
