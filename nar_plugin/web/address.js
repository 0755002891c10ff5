(...values) => {
  const keys = ["model", "against", "k", "task", "family", "library", "params", "year", "map"];
  const query = new URLSearchParams();
  keys.forEach((key, place) => {
    const value = key === "map" ? (values[place] ? "1" : "") : String(values[place] ?? "").trim();
    if (value && !(key === "k" && value === "10")) query.set(key, value);
  });
  const address = "?" + query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  if (address !== location.search) history.pushState(null, "", address);
  return values;
}
