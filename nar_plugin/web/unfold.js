const open = async (event) => {
  const details = event.target;
  if (!(details instanceof HTMLDetailsElement) || !details.open || details.dataset.asked) return;
  const why = details.matches(".nw-why"), boxes = details.matches(".nw-unfold");
  if (!why && !boxes) return;
  details.dataset.asked = "1";
  const inside = details.querySelector(":scope > div");
  inside.textContent = "…";
  const model = new URLSearchParams(location.search).get("model") ?? "";
  try {
    inside.innerHTML = why
      ? await server.explain([model, details.dataset.against])
      : await server.unfold(model);
  } catch {
    inside.textContent = "That did not work. Close and open it again.";
    delete details.dataset.asked;
  }
};
document.addEventListener("toggle", open, true);
