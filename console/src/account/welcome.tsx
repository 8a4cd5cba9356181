export default function Welcome() {
  return <p>hello</p>;
}
